"""The paths of an index's files, and the lock of its writer.

notes.db            the passage store and the manifest; records which of the others are current
keyword-<engine>/   the postings, with their checksums
vectors/            the chunk vectors; see `vectors`
REBUILD             written by a reader that found damage: the next update rebuilds the index
lock                held by the only writer
"""

import errno
import os
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.clock import Clock
from agent.config.private import hold, is_held, make_folder, write
from agent.dataclass import dataclass
from agent.errors import LockHeld, Permanent
from agent.json_value import parse_json

if TYPE_CHECKING:
    from agent.index.query import Engine


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """The folder of an index; it may not exist yet, and may be deleted at any moment."""

    folder: Path

    @property
    def is_shared(self) -> bool:
        """False: each machine has its own."""
        return False

    @property
    def store(self) -> Path:
        return self.folder / "notes.db"

    @property
    def mark(self) -> Path:
        return self.folder / "REBUILD"

    def keyword(self, engine: "Engine") -> Path:
        return self.folder / f"keyword-{engine}"

    def vectors(self, name: str) -> Path:
        return self.folder / "vectors" / f"{name}.usearch"

    def has_vectors(self, state: str) -> bool:
        """True if the vectors of a recorded state (`vectors.VectorState`) have files, or if it has none."""
        try:
            _, rows, _ = parse_json(state)
            return all(self.vectors(str(row[0])).is_file() for row in rows if row is not None)
        except (ValueError, TypeError, LookupError):
            return False

    def inode(self) -> int | None:
        """The inode of the passage store, which changes with a rebuild; None without a store."""
        try:
            return self.store.stat().st_ino
        except OSError:
            return None

    def is_being_written(self) -> bool:
        """True while a writer runs: files that look damaged may be half written."""
        return is_held(self.folder / "lock")

    def why_broken(self) -> str:
        """The reason to rebuild the index (a reader found damage, or there is no index); empty for none."""
        folder = os.fspath(self.folder)  # asked by every turn of a daemon, so without a path for each name
        try:
            os.stat(f"{folder}/REBUILD")  # noqa: PTH116
            return self.mark.read_text("utf-8", "replace") or "a search met damage"
        except FileNotFoundError:
            return "" if os.path.isfile(f"{folder}/notes.db") else "there was no index"  # noqa: PTH113
        except OSError:
            return "a search met damage"

    def exists(self) -> bool:
        """True if there is something of an index."""
        return self.folder.exists()

    def damage_met(self) -> str:
        """Why a rebuild was asked for; empty if it was not."""
        return self.why_broken() if self.mark.exists() else ""

    def ask_for_rebuild(self, reason: str) -> None:
        """Ask the next writer for a rebuild; does nothing when the folder cannot be written."""
        try:
            write(self.mark, reason.encode("utf-8", "replace"))
        except OSError:
            return

    def clear(self) -> None:
        """Remove everything but the lock."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name != "lock":
                _remove(path)

    def drop_old_vectors(self, *names: str) -> None:
        """Remove all vectors but these."""
        current = [self.vectors(name) for name in names]
        for path in (self.folder / "vectors").glob("*"):
            if path not in current:
                _remove(path)

    def publish(self, *, is_whole: bool) -> None:
        """Do nothing: readers see each update when it is written."""

    def claim(self, clock: Clock, patience: float = 0.0) -> None:
        """Do nothing: whoever has something to write does."""

    def close(self) -> None:
        """Do nothing: the parts close their own files."""

    @contextmanager
    def writing(self, clock: Clock, patience: float) -> Iterator[None]:
        """Hold the writer's lock; raises `LockHeld` after `patience` seconds."""
        if self.folder.exists() and not self.folder.is_dir():
            _remove(self.folder)
        make_folder(self.folder)
        if (self.folder / "lock").is_dir():
            _remove(self.folder / "lock")
        with hold(self.folder / "lock", clock, patience) as held:
            if held is None:
                raise LockHeld("another vault-agent is updating the index", hint="try again in a moment")
            yield


def _remove(path: Path) -> None:
    """Remove a file, a link or a whole folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


class WrittenElsewhere(LockHeld):
    """Another machine writes the shared index; this one only searches it."""


class Damaged(Permanent):
    """A file of the index has changed or is missing. The next update rebuilds the index from the notes."""

    def __init__(self, sentence: str, /, **values: object) -> None:
        super().__init__(sentence, hint="vault-agent index builds the index again from the notes", **values)


@contextmanager
def store_errors() -> Iterator[None]:
    """Convert errors of SQLite, and of parsing its content, into `Damaged`.

    Raises `LockHeld` when another process holds the file, and `OSError` for a full disk or denied access.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _from_sqlite(error) from error
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError, struct.error) as error:
        raise Damaged("{path} cannot be read: {reason}", path="notes.db", reason=error) from error


def _from_sqlite(error: sqlite3.Error) -> Exception:
    match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LockHeld("another vault-agent is updating the index", hint="try again in a moment")
        case sqlite3.SQLITE_FULL:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "notes.db")
        case sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return OSError(errno.EACCES, os.strerror(errno.EACCES), "notes.db")
        case _:
            return Damaged("{path} cannot be read: {reason}", path="notes.db", reason=error)
