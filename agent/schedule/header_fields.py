"""The fields in the header of a job or a task: each is checked, and a wrong one is kept with its name."""

from collections.abc import Callable, Mapping
from dataclasses import field
from hashlib import sha256
from typing import TypeVar

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value, is_list
from agent.texts import either

_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@-")
_T = TypeVar("_T")
_Name = TypeVar("_Name", bound=str)


class WrongField(UserError):
    """A value of the header that a job or a task cannot have."""


@dataclass(slots=True)
class CheckedFields:
    """The header's fields, each with the error of its value; an empty value counts as not given. `read` are the keys
    that were asked for."""

    header: Mapping[str, Value]
    problems: list[tuple[str, UserError]] = field(default_factory=list)
    read: set[str] = field(default_factory=set)

    def take(self, key: str, parse: Callable[[Value], _T], default: _T) -> _T:
        """The parsed value under a key; the default without one, and for a wrong one, whose error is kept."""
        self.read.add(key)
        value = self.header.get(key)
        if value is None or value == "":
            return default
        try:
            return parse(value)
        except UserError as error:
            self.problems.append((key, error))
            return default


def identity(value: Value) -> str:
    """An id as a commit and a claim can name it; raises `WrongField`."""
    text = str(value)
    if not text or len(text) > 80 or not set(text) <= _ID_CHARACTERS:
        raise WrongField(
            "{value} cannot be an id", hint="letters a to z, digits and - _ . @, at most 80", value=text[:80]
        )
    return text


def plain_id(stem: str, kind: str) -> str:
    """A stem as an id: a note that a person names freely needs none in its header."""
    plain = "".join(each if each in _ID_CHARACTERS else "-" for each in stem).strip("-")[:60]
    if plain == stem:
        return plain
    return f"{plain or kind}-{sha256(stem.encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def title_of(note: Note, stem: str) -> str:
    """The title of a note: the header's, else its first heading, else the stem of its name."""
    first = note.body.strip().partition("\n")[0]
    return note.string("title") or (first[2:].strip() if first.startswith("# ") else stem)


def one_of(names: tuple[_Name, ...]) -> Callable[[Value], _Name]:
    """The parser of a field that is one of these words."""

    def parse(value: Value) -> _Name:
        found = next((each for each in names if each == value), None)
        if found is None:
            raise WrongField("{value} is not known", hint="{names}", value=shown(value), names=either(names))
        return found

    return parse


def number(least: int, most: int) -> Callable[[Value], int]:
    """The parser of a whole number between two others."""

    def parse(value: Value) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise WrongField(
                "{value} is no such number", hint="from {least} to {most}", value=shown(value), least=least, most=most
            )
        return value

    return parse


def yes_no(value: Value) -> bool:
    """True or false; raises `WrongField`."""
    if not isinstance(value, bool):
        raise WrongField("{value} is neither true nor false", hint="true or false", value=shown(value))
    return value


def word(value: Value) -> str:
    """A short text on one line; raises `WrongField`."""
    text = str(value).strip()
    if isinstance(value, bool | Mapping) or is_list(value) or len(text) > 200 or "\n" in text:
        raise WrongField("{value} is not one word", hint="one word or name", value=shown(value))
    return text


def shown(value: Value) -> str:
    """A value as a message shows it."""
    return " ".join(str(value).split())[:80]
