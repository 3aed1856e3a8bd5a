"""JSON of any size, one value at a time: what is read at once is one conversation, whatever the file's size."""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import BinaryIO

from agent.errors import UserError
from agent.importers.export import ExportFile
from agent.llm.messages import Json, JsonObject, mapping

LARGEST_VALUE = 32 << 20
"""Bytes of one conversation or record; a longer one is no export's."""
_DEEPEST, _PIECE = 10_000, 1 << 15
"""The most open brackets after a piece of a file, and the bytes of a piece."""
_HINT = "the file is damaged: export it again"


class _Counted:
    """A stream that refuses to go on when too much was read for one value, or when that is nested so deeply that the
    library would end the process. Brackets in texts are counted, too: they come in pairs."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name, self.count, self.depth = stream, name, 0, 0

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(size)
        self.count += len(piece)
        self.depth += piece.count(b"[") + piece.count(b"{") - piece.count(b"]") - piece.count(b"}")
        if self.depth > _DEEPEST:
            raise UserError("{name} is nested too deeply", hint=_HINT, name=self._name)
        if self.count > LARGEST_VALUE:
            raise UserError(
                "{name}: one value is larger than {count} MB", hint=_HINT, name=self._name, count=LARGEST_VALUE >> 20
            )
        return piece


def records(file: ExportFile, *prefixes: str) -> Iterator[JsonObject]:
    """The objects at the first of these places that the file has (`item`: in the list that it is; `results.item`: in
    the list under that key), as they are read. Raises `UserError` for text that is no JSON, also in its middle."""
    for prefix in prefixes or ("item",):
        is_there = False
        for value in _values(file, prefix):
            is_there = True
            yield mapping(value)
        if is_there:
            return


def whole(file: ExportFile) -> JsonObject:
    """The object that a small file is; empty for another value."""
    return next((mapping(each) for each in _values(file, "")), {})


def first(file: ExportFile, prefix: str = "item") -> JsonObject:
    """The first object at this place; empty if there is none, or no JSON up to there."""
    try:
        return next((mapping(each) for each in _values(file, prefix)), {})
    except UserError as error:
        if error.hint != _HINT:
            raise
        return {}


def begins_with(file: ExportFile, *keys: str, prefix: str = "item") -> bool:
    """True if the first object at this place has all of these keys."""
    return set(keys) <= first(file, prefix).keys()


def _values(file: ExportFile, prefix: str) -> Iterator[Json]:
    if file.size == 0:
        return
    library = _library(file.name)
    broken = (library.JSONError, UnicodeError, RecursionError, OverflowError)
    try:
        with file.open() as stream:
            counted = _Counted(stream, file.name)
            for value in library.items(counted, prefix, use_float=True, buf_size=_PIECE):
                counted.count = counted.depth = 0
                yield value
    except broken as error:
        raise UserError("{name} is no whole JSON; nothing is imported", hint=_HINT, name=file.name) from error


def _library(name: str) -> ModuleType:
    """The library that reads JSON in pieces; raises `UserError` where it is not installed."""
    try:
        return import_module("ijson")
    except ModuleNotFoundError as error:
        hint = "JSON of any size is read by a library: uv tool install '.[import]'"
        raise UserError("{name} cannot be read yet", hint=hint, name=name) from error
