"""Small files outside the vault: writes that survive a crash, folders of records, and locks between processes."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from agent.clock import Clock
from agent.config import private
from agent.config.private import Holder, clear_way, hold, is_held, make_folder
from agent.dataclass import dataclass
from agent.errors import LockHeld
from agent.json_value import parse_json
from agent.platform.here import platform
from agent.texts import Sentence

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    _Record = TypeVar("_Record", bound=DataclassInstance)
else:
    _Record = TypeVar("_Record")


def append(path: Path, text: str) -> None:
    """Add text at the end of a file, which is created if it is missing; readable by its owner only."""
    make_folder(path.parent)
    clear_way(path)
    is_new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(text.encode("utf-8", "replace"))
        file.flush()
        platform().flush(descriptor)
    if is_new:
        flush_folder(path.parent)


def replace(path: Path, text: str) -> None:
    """Write a whole file; readable by its owner only."""
    make_folder(path.parent)
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "replace"))
        file.flush()
        platform().flush(descriptor)
    clear_way(path)
    draft.replace(path)
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Flush a folder to disk, so that new names in it survive a crash."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        platform().flush(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class RecordFolder(Generic[_Record]):
    """A folder outside the vault with one small JSON file for each record.

    `parse` converts a JSON document to a record; it raises `ValueError`, `KeyError` or `TypeError` for a damaged one.
    """

    folder: Path
    parse: Callable[[dict[str, object]], _Record]

    def get(self, key: str) -> _Record | None:
        """The record of this key; None if it is missing or cannot be read."""
        try:
            return self.parse(parse_json(self._file(key).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, record: _Record) -> None:
        """Write a record; durable when this returns."""
        replace(self._file(key), json.dumps(asdict(record), indent=1, default=str))

    def drop(self, key: str) -> None:
        """Delete a record."""
        self._file(key).unlink(missing_ok=True)

    def all(self) -> Iterator[_Record]:
        """All readable records, in the order of their keys."""
        files = sorted(self.folder.glob("*.json")) if self.folder.is_dir() else ()
        return (record for file in files if (record := self.get(file.stem)) is not None)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


LONGEST = 1000
"""Maximum number of bytes read from a lock file."""


@contextmanager
def process_lock(path: Path, clock: Clock, patience: float, taken: str) -> Iterator[None]:
    """Hold a lock file; raises `LockHeld` after `patience` seconds, with `taken` and the holder as its message."""
    with hold(path, clock, patience) as held:
        if held is None:
            raise LockHeld("{taken} ({holder})", hint="vault-agent status", taken=Sentence(taken), holder=_named(path))
        os.ftruncate(held, 0)
        os.pwrite(held, str(private.current()).encode(), 0)
        yield


def holder(path: Path) -> int | None:
    """The id of the process that holds a lock file now; 0 if it is not recorded, None if the lock is free."""
    if not is_held(path):
        return None
    found = private.parse(read_start(path).decode("utf-8", "replace"))
    return found.process if found else 0


def _named(path: Path) -> Sentence:
    found = private.parse(read_start(path).decode("utf-8", "replace"))
    return Sentence("process unknown") if found is None else describe_holder(found)


def describe_holder(found: Holder) -> Sentence:
    """The process in words, with its host or container if the process id is not of this system."""
    here = private.current()
    if found.shares_processes_with(here):
        return Sentence("process {process}", process=found.process)
    if found.shares_kernel_with(here):
        return Sentence("process {process} in another container", process=found.process)
    return Sentence("process {process} on {host}", process=found.process, host=found.host)


def read_start(path: Path) -> bytes:
    """The first bytes of a lock file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(LONGEST)
    except OSError:
        return b""
