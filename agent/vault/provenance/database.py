"""The record of arrivals: one SQLite file beside the vault's other private files.

It can be rebuilt from git's own logs, so a damaged file is set aside and a new one started; the person's answers are
stored elsewhere (`remotes`, `looks`). Each update is one transaction, durable before its result is returned.
"""

import json
import logging
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

from agent.config.private import clear_way, make_folder, touch
from agent.dataclass import dataclass
from agent.errors import Retryable
from agent.json_value import parse_json
from agent.vault.provenance.reflog import Maker
from agent.vault.provenance.remotes import RemoteAnswers

_BUSY_SECONDS = 10.0
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_MACHINE = {
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL),
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_NOMEM),
}
"""Errors of the disk or the machine: the file itself may be undamaged."""
_TABLES = """
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS own_commit (id TEXT PRIMARY KEY, maker TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS arrival (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, before TEXT, after TEXT, commit_id TEXT NOT NULL,
    addresses TEXT NOT NULL, author TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS arrival_path ON arrival (path);
CREATE INDEX IF NOT EXISTS arrival_after ON arrival (after);
CREATE INDEX IF NOT EXISTS arrival_commit ON arrival (commit_id);
CREATE TABLE IF NOT EXISTS signed_commit (id TEXT PRIMARY KEY, signer TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claim (id TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS line (mark INTEGER, arrival INTEGER, PRIMARY KEY (mark, arrival)) WITHOUT ROWID;
"""
_LEFT, _LEFT_END = "left ", "left!"
"""The beginning of the names of facts about left addresses, and the name that follows all of them."""
_SIGNED = "LEFT JOIN signed_commit ON signed_commit.id = arrival.commit_id AND arrival.author != ''"
_SIGNED_OR_CLAIMED = f"{_SIGNED} LEFT JOIN claim ON claim.id = arrival.commit_id AND arrival.author != ''"
_COLUMNS = "arrival.*, signed_commit.signer, claim.row"
_SELECT = f"SELECT {_COLUMNS} FROM arrival {_SIGNED_OR_CLAIMED}"
_ODD, _SPARE = range(0xDC80, 0xDD00), range(0x10FF80, 0x110000)
"""A byte of a name that is no UTF-8, as Python has it in a text, and the character for which it is stored: SQLite takes
only text that is UTF-8. Nobody has given the characters at the end of Unicode a meaning."""
_STORED, _FOUND = dict(zip(_ODD, _SPARE, strict=True)), dict(zip(_SPARE, _ODD, strict=True))
logger = logging.getLogger(__name__)


class RecordDamaged(Retryable):
    """The file was damaged and has been set aside; a new record is started."""


@dataclass(frozen=True, slots=True)
class ArrivedBlob:
    """One file that a commit from elsewhere brought: blob ids before and after (None: no file).

    `addresses` are those of the remotes that have the commit; empty if no remote has it. `author` is empty for a file
    that was found in a whole version, not in a commit of its own. `signer` is the fingerprint of the key with which the
    commit is signed, if that was the person's own when it arrived or later; else empty. `claim` names the rows of the
    shared record in which the commit says that its foreign lines are; else empty.
    """

    id: int
    path: str
    before: str | None
    after: str | None
    commit: str
    addresses: tuple[str, ...]
    author: str
    signer: str = ""
    claim: str = ""

    def is_mine(self, answers: RemoteAnswers, left: Mapping[str, int]) -> bool:
        """True if the person's key has signed it, or if it came from a remote to which only the person writes, or wrote
        while it was kept in step: `left` has the last arrival of each remote that was taken out since."""
        if self.signer:
            return True
        return bool(self.addresses) and all(
            answers.is_mine(each) or (each not in answers.writers and self.id <= left.get(each, 0))
            for each in self.addresses
        )

    @property
    def source(self) -> str:
        """Its origin, in words for people and for the model."""
        where = ", ".join(self.addresses) or "an unknown place"
        return f"{where}, by {self.author}" if self.author else where


@dataclass(slots=True)
class Database:
    """The record of one vault, for use by several threads.

    Raises `RecordDamaged`, and `Retryable` if another process locks it for long.
    """

    path: Path
    durable: bool = True
    """False to leave it to the system when writes reach the disk."""
    _open: sqlite3.Connection | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make the writes of the block durable together, or none of them."""
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def fact(self, name: str) -> str | None:
        """A stored value; None if there is none."""
        rows = self._rows("SELECT value FROM fact WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else None

    def remember(self, facts: Mapping[str, str]) -> None:
        """Store these values."""
        self._write("INSERT OR REPLACE INTO fact VALUES (?, ?)", facts.items())

    def leave(self, address: str) -> None:
        """Record that all that has come from this address by now was written by the person."""
        last = self._rows("SELECT MAX(id) FROM arrival", ())[0][0]
        self.remember({f"{_LEFT}{address}": str(last or 0)})

    def left(self) -> dict[str, int]:
        """The id of the last arrival that counts as the person's, of each address that was left."""
        rows = self._rows("SELECT name, value FROM fact WHERE name >= ? AND name < ?", (_LEFT, _LEFT_END))
        return {str(name).removeprefix(_LEFT): int(str(value)) for name, value in rows}

    def add_commits(self, makers: Mapping[str, Maker]) -> None:
        """Record that these commits were made on this machine."""
        self._write("INSERT OR REPLACE INTO own_commit VALUES (?, ?)", [(id, str(each)) for id, each in makers.items()])

    def makers(self, ids: Sequence[str]) -> dict[str, Maker]:
        """The maker of each of these commits on this machine; commits made elsewhere are left out."""
        return {
            str(id): Maker(str(maker)) for id, maker in self._among("SELECT id, maker FROM own_commit WHERE id", ids)
        }

    def add_arrival(self, arrival: ArrivedBlob, marks: Iterable[int]) -> None:
        """Add an arrival with the marks of its new lines; its `id` is assigned here."""
        row = (_stored(arrival.path), arrival.before, arrival.after, arrival.commit, json.dumps(arrival.addresses))
        with self._connected() as connection:
            columns = "path, before, after, commit_id, addresses, author"
            cursor = connection.execute(
                f"INSERT INTO arrival ({columns}) VALUES (?, ?, ?, ?, ?, ?)", (*row, arrival.author)
            )
            lines = ((mark, cursor.lastrowid) for mark in marks)
            connection.executemany("INSERT OR IGNORE INTO line VALUES (?, ?)", lines)

    def arrived_commits(self, ids: Sequence[str]) -> set[str]:
        """The commits that have recorded arrivals."""
        return {str(row[0]) for row in self._among("SELECT DISTINCT commit_id FROM arrival WHERE commit_id", ids)}

    def add_claims(self, rows: Mapping[str, str]) -> None:
        """Record which rows of the shared record these commits name (commit id to row id)."""
        self._write("INSERT OR REPLACE INTO claim VALUES (?, ?)", rows.items())

    def add_signers(self, signers: Mapping[str, str]) -> None:
        """Record that these commits are signed with the person's own keys (id to fingerprint)."""
        self._write("INSERT OR REPLACE INTO signed_commit VALUES (?, ?)", signers.items())

    def unsigned_commits(self) -> list[str]:
        """The commits with recorded arrivals that no key of the person's has signed."""
        query = f"SELECT DISTINCT commit_id FROM arrival {_SIGNED} WHERE signer IS NULL AND author != ''"
        return [str(row[0]) for row in self._rows(query, ())]

    def is_empty(self) -> bool:
        """True if nothing has ever arrived."""
        return not self._rows("SELECT 1 FROM arrival LIMIT 1", ())

    def paths(self) -> list[str]:
        """All paths with arrivals, sorted."""
        return [_found(row[0]) for row in self._rows("SELECT DISTINCT path FROM arrival ORDER BY path", ())]

    def counts(self) -> dict[str, int]:
        """The number of paths that arrived from each address (empty: from no remote)."""
        found: dict[str, int] = {}
        for addresses, count in self._rows(
            "SELECT addresses, COUNT(DISTINCT path) FROM arrival GROUP BY addresses", ()
        ):
            for address in parse_json(str(addresses)) or [""]:
                found[address] = found.get(address, 0) + int(str(count))
        return found

    def at(self, path: str) -> list[ArrivedBlob]:
        """The arrivals at a path, oldest first."""
        return self._arrivals(f"{_SELECT} WHERE path = ? ORDER BY arrival.id", (_stored(path),))

    def removals(self, paths: Sequence[str]) -> list[ArrivedBlob]:
        """The arrivals that removed these paths, oldest first."""
        found = self._among(f"{_SELECT} WHERE after IS NULL AND path", [*map(_stored, paths)])
        return sorted(map(_arrival, found), key=lambda each: each.id)

    def of_commits(self, ids: Sequence[str]) -> list[ArrivedBlob]:
        """The arrivals of these commits."""
        return [_arrival(row) for row in self._among(f"{_SELECT} WHERE commit_id", ids)]

    def with_blob(self, blobs: Sequence[str]) -> list[ArrivedBlob]:
        """The arrivals that brought these contents."""
        return [_arrival(row) for row in self._among(f"{_SELECT} WHERE after", blobs)]

    def marks(self) -> set[int]:
        """The marks of all lines that have arrived."""
        return {int(str(row[0])) for row in self._rows("SELECT DISTINCT mark FROM line", ())}

    def blobs(self) -> set[str]:
        """The ids of all contents that have arrived."""
        return {str(row[0]) for row in self._rows("SELECT DISTINCT after FROM arrival", ())}

    def with_marks(self, marks: Sequence[int]) -> list[ArrivedBlob]:
        """The arrivals that brought lines with these marks."""
        joined = f"line JOIN arrival ON arrival.id = line.arrival {_SIGNED_OR_CLAIMED}"
        query = f"SELECT DISTINCT {_COLUMNS} FROM {joined} WHERE line.mark"
        return [_arrival(row) for row in self._among(query, marks)]

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _arrivals(self, query: str, values: tuple[object, ...]) -> list[ArrivedBlob]:
        return [_arrival(row) for row in self._rows(query, values)]

    def _among(self, query: str, values: Sequence[str] | Sequence[int]) -> list[tuple[object, ...]]:
        # a list with a question mark for each value would be another statement to keep for each length
        return self._rows(f"{query} IN (SELECT value FROM json_each(?))", (json.dumps([*values]),))

    def _rows(self, query: str, values: tuple[object, ...]) -> list[tuple[object, ...]]:
        with self._connected() as connection:
            return connection.execute(query, values).fetchall()

    def _write(self, query: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self._connected() as connection:
            connection.executemany(query, rows)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._open is None:
                    self._open = self._connect()
                yield self._open
            except sqlite3.DatabaseError as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
                if code in _BUSY:
                    raise Retryable("another vault-agent records what arrived", hint="try again soon") from error
                if code in _MACHINE:
                    raise Retryable(
                        "what arrived cannot be recorded: {error} ({path})",
                        hint="look for space and for permission there, then try again",
                        error=error,
                        path=self.path,
                    ) from error
                self._put_aside(error)
                raise RecordDamaged("the record of what arrived was damaged, and is made anew") from error

    def _connect(self) -> sqlite3.Connection:
        make_folder(self.path.parent)
        clear_way(self.path)
        touch(self.path)
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA cache_size = -64")  # in KB: a daemon fills what it may, note by note
            if not self.durable:
                connection.execute("PRAGMA synchronous = OFF")
            (version,) = connection.execute("PRAGMA schema_version").fetchone()
            # A new file: one transaction, as each table in its own is synced three times.
            connection.executescript(_TABLES if version else f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _put_aside(self, error: sqlite3.DatabaseError) -> None:
        """Move a damaged record aside, so that a person can still look at it."""
        logger.warning("the record of what arrived is damaged (%s); it is made anew from git's logs", error)
        with suppress(sqlite3.Error):
            self.close()
        self._open = None
        for ending in ("-journal", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        with suppress(OSError):
            self.path.replace(self.path.with_name(self.path.name + ".damaged"))


def _arrival(row: Sequence[object]) -> ArrivedBlob:
    id, path, before, after, commit, addresses, author, signer, claim = row
    known = tuple(str(each) for each in parse_json(str(addresses)))
    versions = _text(before), _text(after)
    marked = _text(signer) or "", _text(claim) or ""
    return ArrivedBlob(int(str(id)), _found(path), *versions, str(commit), known, str(author), *marked)


def _stored(path: str) -> str:
    return path if path.isascii() else path.translate(_STORED)


def _found(value: object) -> str:
    path = str(value)
    return path if path.isascii() else path.translate(_FOUND)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
