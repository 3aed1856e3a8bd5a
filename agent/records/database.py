"""The file `records.sqlite` of a folder: one SQLite database for what this machine must remember from one process to
the next, shared by the daemon, the command line and the servers for other programs.

A file that is no database any more is moved aside; the new one begins with the rows that can still be read. The first
opening takes over the files in which earlier versions kept the same (`takeover`).
"""

import logging
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from weakref import finalize

from agent.config.private import clear_way, make_folder, touch
from agent.errors import Permanent, Retryable
from agent.lazy import later

if TYPE_CHECKING:
    from agent.records.takeover import take_over
else:
    take_over = later("agent.records.takeover", "take_over")

NAME = "records.sqlite"
VERSION = 1
"""Raised when `takeover` is given another file: a database of a lower version looks for them once more."""
DAMAGED = f"{NAME}.damaged"
"""The name of a file that was moved aside."""
_HEADER = b"SQLite format 3\0"
_BUSY_SECONDS = 10.0
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT}
"""Errors of the file itself; all others are those of the disk or the machine, and the file may be undamaged."""
_TABLES = """
CREATE TABLE IF NOT EXISTS record (name TEXT, key TEXT, value TEXT, PRIMARY KEY (name, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS line (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, value TEXT);
CREATE INDEX IF NOT EXISTS line_name ON line (name, id);
"""
_READINGS = (
    *(
        ("record", "name, key, value", "ORDER BY name, key"),
        ("record", "name, key, value", "ORDER BY name DESC, key DESC"),
    ),
    *(("line", "id, name, value", "ORDER BY id"), ("line", "id, name, value", "ORDER BY id DESC")),
)
"""How a damaged file is read: from both ends, each up to the damage."""
Value: TypeAlias = str | int | None
logger = logging.getLogger(__name__)


class RecordsUnusable(Permanent, OSError):
    """The disk is full, or does not let the file be used: to be said, and to be tried again as other files are."""


class Records:
    """The database in `folder`, opened when it is first asked for. For use by several threads and processes.

    Every statement and every transaction is on disk when it returns, unless it says otherwise or `durable` is False.
    Raises `Retryable` while another process keeps the file locked, `RecordsUnusable` if the disk refuses it.
    """

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self.path = folder / NAME
        self._durable = durable
        self._lock = threading.RLock()
        self._open: sqlite3.Connection | None = None
        self._inode = 0
        self._is_flushed = True
        self._is_in_transaction = False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make the writes of the block together, or none of them; no other thread or process writes meanwhile. A block
        within another one is a part of it."""
        with self._lock:
            if self._is_in_transaction:
                yield
                return
            self.rows("BEGIN IMMEDIATE")
            self._is_in_transaction = True
            try:
                yield
                self.rows("COMMIT")
            except BaseException:
                if self._open is not None:
                    with suppress(sqlite3.Error):
                        self._open.execute("ROLLBACK")
                raise
            finally:
                self._is_in_transaction = False

    def rows(self, query: str, *values: Value, flush: bool = True) -> Sequence[tuple[Value, ...]]:
        """The rows that a statement finds. `flush`: what it writes is on disk when this returns; else a crash of the
        machine may undo it."""
        with self._lock:
            try:
                try:
                    return self._execute(query, values, flush)
                except sqlite3.DatabaseError as error:
                    self._raise_or_begin_anew(error)
                return self._execute(query, values, flush)
            except (sqlite3.Error, OSError) as error:
                raise _unusable(self.path, error) from error

    def empty_log(self) -> None:
        """Write what was deleted over on disk: also the log of the last changes has nothing of it any more."""
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _execute(self, query: str, values: Sequence[Value], flush: bool) -> Sequence[tuple[Value, ...]]:
        if self._open is not None and not self._is_in_transaction and self._is_replaced():
            self._close()
        if self._open is None:
            self._open = self._connect()
            self._inode = self.path.stat().st_ino
        if self._durable and flush != self._is_flushed and not self._is_in_transaction:
            self._open.execute(f"PRAGMA synchronous = {'FULL' if flush else 'NORMAL'}")
            self._is_flushed = flush
        return self._open.execute(query, values).fetchall()

    def _connect(self) -> sqlite3.Connection:
        make_folder(self.path.parent)
        clear_way(self.path)
        touch(self.path)
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA secure_delete = ON")  # a forgotten text is not left in free pages
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version < VERSION:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = OFF")
                connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
                take_over(self.path.parent, connection, VERSION)
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'OFF'}")
        except BaseException:
            connection.close()
            raise
        self._is_flushed = True
        finalize(self, connection.close).atexit = False
        return connection

    def _raise_or_begin_anew(self, error: sqlite3.DatabaseError) -> None:
        """Move a damaged file aside and begin a new one; raise what any other error means."""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in _BUSY and self._has_header():
            raise Retryable("another process writes to {path}", hint="try again soon", path=self.path) from error
        if code not in _DAMAGE | _BUSY:
            raise error
        self._close()
        left, is_whole = _salvaged(self.path)
        if not is_whole:  # else another process has healed it meanwhile
            logger.warning("%s is damaged (%s): it is begun anew with what can still be read", self.path, error)
            self._begin_anew(left)
        if self._is_in_transaction:
            raise Retryable("{path} was damaged, and is begun anew", hint="try again", path=self.path) from error

    def _begin_anew(self, left: Mapping[str, Sequence[tuple[Value, ...]]]) -> None:
        with suppress(OSError):
            self.path.replace(self.path.with_name(DAMAGED))
        for ending in ("-wal", "-shm"):
            self.path.with_name(NAME + ending).unlink(missing_ok=True)
        with suppress(sqlite3.Error):
            self._open = self._connect()
            for statement, rows in left.items():
                self._open.executemany(statement, rows)

    def _is_replaced(self) -> bool:
        """True if another process has begun the file anew, or somebody has deleted or emptied it."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return True
        return found.st_ino != self._inode or not found.st_size

    def _has_header(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(len(_HEADER)) == _HEADER

    def _close(self) -> None:
        if self._open is not None:
            with suppress(sqlite3.Error):
                self._open.close()
        self._open = None


def _salvaged(path: Path) -> tuple[dict[str, list[tuple[Value, ...]]], bool]:
    """The rows of a file that can be read, by the statement that stores them; True if the file is undamaged."""
    found: dict[str, list[tuple[Value, ...]]] = {}
    is_whole = []
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
        for table, columns, way in _READINGS:
            rows = found.setdefault(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES (?, ?, ?)", [])
            with suppress(sqlite3.Error):
                for row in connection.execute(f"SELECT {columns} FROM {table} {way}"):
                    rows += [row] if None not in row else []
        connection.execute("SELECT 1 FROM record, line LIMIT 1")
        is_whole = connection.execute("PRAGMA integrity_check(1)").fetchall()
    return found, is_whole == [("ok",)]


def _unusable(path: Path, error: Exception) -> RecordsUnusable:
    return RecordsUnusable(
        "{path} cannot be used: {error}",
        hint="look for space and for permission there: what this machine must remember is in it",
        path=path,
        error=str(error),
    )
