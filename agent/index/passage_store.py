"""What is known of every indexed note, in one SQLite file: rows for scoring, texts for showing, facts for filters.

It is the index's memory: no note has to be read to answer a question, and what was recorded here says what the other
files should hold. Readers work on a snapshot and never wait for the writer. Every row carries a checksum.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias
from zlib import crc32

from agent.config.private import touch
from agent.index.hit import Filters
from agent.index.seal import Damaged

Status: TypeAlias = Literal["indexed", "skipped", "failed"]
VERSION = 2
"""Of the whole index's form; a file of another version is built again."""
_AT_ONCE = 500
_LAST = "\U0010ffff"
"""Sorts after all that is text."""
_SHARED = 32 * 1024
"""Bytes of the smallest index of SQLite's log, which all its processes map."""
_SCHEMA = """
create table if not exists meta (key text primary key, value text not null, crc integer not null) without rowid;
create table if not exists note (
  id integer primary key, path text not null unique, hash text not null, status text not null, reason text not null,
  title text not null, name text, day text not null, headings text not null, facets text not null,
  data blob not null, text text not null, crc integer not null, data_crc integer not null);
create table if not exists facet (key text, value text, id integer, primary key (key, value, id)) without rowid;
create table if not exists term (hash integer primary key, notes integer, units integer, crc integer not null);
create table if not exists pending (path text, id integer);
create index if not exists note_day on note (day);
create index if not exists note_path on note (path, status);
"""


@dataclass(frozen=True, slots=True)
class Record:
    """A note in the store; `data` is its packed row, `headings` each new heading path with the unit it begins at."""

    id: int
    path: str
    hash: str
    status: Status
    reason: str = ""
    title: str = ""
    name: str | None = None
    day: str = ""
    headings: tuple[tuple[int, tuple[str, ...]], ...] = ()
    facets: tuple[tuple[str, str], ...] = ()
    data: bytes = b""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all indexed notes; lengths are in terms."""

    notes: int = 0
    units: int = 0
    terms: int = 0
    hood_terms: int = 0

    def plus(self, other: "Totals", sign: int = 1) -> "Totals":
        return Totals(
            self.notes + sign * other.notes,
            self.units + sign * other.units,
            self.terms + sign * other.terms,
            self.hood_terms + sign * other.hood_terms,
        )


@dataclass(slots=True)
class PassageStore:
    """An open store; close it after use."""

    connection: sqlite3.Connection
    path: Path
    _shared: int = field(default=_SHARED, init=False)

    def close(self) -> None:
        self._lengthen()
        self.connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Reads inside see one state; `sqlite3` errors become `Damaged`."""
        self._lengthen()
        with damage():
            self.connection.execute("begin")
            try:
                yield
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("rollback")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Writes inside are one step: all or nothing, also when the process dies."""
        self._lengthen()
        with damage():
            self.connection.execute("begin immediate")
            try:
                yield
                self.connection.execute("commit")
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("rollback")

    def meta(self, key: str, default: str = "") -> str:
        """A fact about the index; raises `Damaged`."""
        row = self.connection.execute("select value, crc from meta where key = ?", (key,)).fetchone()
        if row is None:
            return default
        if _crc(key, row[0]) != row[1]:
            raise Damaged("notes.db is damaged: a wrong checksum in meta")
        return str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        self.connection.execute("insert or replace into meta values (?, ?, ?)", (key, value, _crc(key, value)))

    def totals(self) -> Totals:
        return Totals(**json.loads(self.meta("totals", "{}")))

    def hashes(self) -> dict[str, str]:
        """Every known path with the hash of what was indexed."""
        return dict(self.connection.execute("select path, hash from note"))

    def ids(self, paths: Iterable[str]) -> dict[str, int]:
        return {str(row[0]): int(row[1]) for row in self._among("select path, id from note where path in", [*paths])}

    def pending(self) -> list[tuple[str, int]]:
        """The paths, with their numbers, that an update meant to write and did not finish."""
        return [(str(path), int(note)) for path, note in self.connection.execute("select path, id from pending")]

    def set_pending(self, rows: Sequence[tuple[str, int]]) -> None:
        self.connection.execute("delete from pending")
        self.connection.executemany("insert into pending values (?, ?)", rows)

    def add(self, records: Iterable[Record]) -> None:
        for each in records:
            headings, facets = json.dumps(each.headings), json.dumps(each.facets)
            shown = (each.path, each.hash, each.status, each.reason, each.title, each.name, each.day, headings, facets)
            data_crc = _data_crc(each.id, each.path, each.day, each.status, each.data)
            self.connection.execute(
                "insert into note values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (each.id, *shown, each.data, each.text, _crc(*shown, each.text), data_crc),
            )
            rows = [(key, value, each.id) for key, value in each.facets]
            self.connection.executemany("insert or ignore into facet values (?, ?, ?)", rows)

    def remove(self, ids: Sequence[int]) -> None:
        for facets, note in list(self._among("select facets, id from note where id in", ids)):
            rows = [(key, value, note) for key, value in json.loads(facets)]
            self.connection.executemany("delete from facet where key = ? and value = ? and id = ?", rows)
        self.connection.executemany("delete from note where id = ?", [(note,) for note in ids])

    def data(self, ids: Sequence[int]) -> dict[int, tuple[str, str, bytes]]:
        """Path, day and packed row of those that are indexed; raises `Damaged` for a row with a wrong checksum."""
        found = {}
        select = "select id, path, day, status, data, data_crc from note where id in"
        for note, path, day, status, data, checksum in self._among(select, ids):
            if _data_crc(note, path, day, status, data) != checksum:
                raise Damaged(f"notes.db is damaged: a wrong checksum at {path}")
            if status == "indexed":  # asked after the checksum, or a damaged status would leave the row out unsaid
                found[int(note)] = (str(path), str(day), bytes(data))
        return found

    def records(self, ids: Sequence[int]) -> dict[int, Record]:
        """Some notes whole; raises `Damaged` for one with a wrong checksum, or that is not there."""
        found = {record.id: record for record in map(_record, self._among("select * from note where id in", ids))}
        if len(found) < len(set(ids)):
            raise Damaged("notes.db is damaged: a row is missing")
        return found

    def frequencies(self, hashes: Sequence[int]) -> dict[int, tuple[int, int]]:
        """For each known term, the number of notes and of units that have it; raises `Damaged`."""
        found = {}
        for term, notes, units, checksum in self._among("select * from term where hash in", hashes):
            if _crc(term, notes, units) != checksum:
                raise Damaged("notes.db is damaged: a wrong checksum among the terms")
            found[int(term)] = (int(notes), int(units))
        return found

    def change_frequencies(self, changes: Mapping[int, tuple[int, int]]) -> None:
        """Add to the numbers of notes and units of some terms; terms that nothing has any more are forgotten."""
        old = self.frequencies([*changes])
        new = [
            (term, notes, units, _crc(term, notes, units))
            for term, (more_notes, more_units) in changes.items()
            for notes, units in ((old.get(term, (0, 0))[0] + more_notes, old.get(term, (0, 0))[1] + more_units),)
        ]
        self.connection.executemany(
            "insert or replace into term values (?, ?, ?, ?)", (row for row in new if row[1] > 0)
        )
        self.connection.executemany("delete from term where hash = ?", ((row[0],) for row in new if row[1] <= 0))

    def matching(self, filters: Filters) -> list[int]:
        """The indexed notes that satisfy every filter, by number; only those have days and facets.

        Reads the database's own indexes alone: by what a row says a note would be left out before its checksum is seen.
        """
        sets = [self._ids("select id from facet where key = ? and value = ?", pair) for pair in filters.keys]
        if filters.after or filters.before:
            select = "select id from note where day > '' and day >= ? and substr(day, 1, 10) <= ?"
            sets.append(self._ids(select, (filters.after, filters.before or _LAST)))
        if filters.paths or not sets:
            select = "select id from note where {} and status = 'indexed'"
            each = (self._ids(select.format(_path_clause(path)), _path_values(path)) for path in filters.paths or ("",))
            sets.append(set[int]().union(*each))
        return sorted(set.intersection(*sets))

    def _ids(self, select: str, values: Sequence[str]) -> set[int]:
        return {note for (note,) in self.connection.execute(select, values)}

    def facet_keys(self) -> frozenset[str]:
        """The header keys that some note has."""
        rows = self.connection.execute(
            "with recursive k(key) as (select min(key) from facet union all"
            " select (select min(key) from facet where key > k.key) from k where k.key is not null)"
            " select key from k where key is not null"
        )
        return frozenset(str(row[0]) for row in rows)

    def of_days(self, spans: Sequence[tuple[str, str]], count: int) -> list[int]:
        """The first notes, at most `count` a span, whose day is within one of the spans; only indexed ones have one."""
        select = "select id from note where day between ? and ? order by day, path limit ?"
        return [int(row[0]) for span in spans for row in self.connection.execute(select, (*span, count))]

    def coverage(self) -> list[tuple[str, Status, str]]:
        """Every known note: its path, whether it is indexed, and why not."""
        return list(self.connection.execute("select path, status, reason from note order by path"))

    def verify(self) -> None:
        """Read everything; raises `Damaged` when a page or a row is not what was written."""
        with damage():
            found = self.connection.execute("pragma integrity_check(1)").fetchone()[0]
            if found != "ok":
                raise Damaged(f"notes.db is damaged: {found}")
            facets = 0
            for row in self.connection.execute("select * from note"):
                record = _record(row)
                facets += sum(_crc(key, value, record.id) for key, value in set(record.facets))
                if _data_crc(record.id, record.path, record.day, record.status, record.data) != row[-1]:
                    raise Damaged(f"notes.db is damaged: a wrong checksum at {record.path}")
            if facets != sum(_crc(*row) for row in self.connection.execute("select key, value, id from facet")):
                raise Damaged("notes.db is damaged: facts for filters are missing, or others")
            for term, notes, units, checksum in self.connection.execute("select * from term"):
                if _crc(term, notes, units) != checksum:
                    raise Damaged("notes.db is damaged: a wrong checksum among the terms")
            self.totals()

    def _lengthen(self) -> None:
        """Make the one file that SQLite must map as long again as it was; it sees zeros and reads its log anew.

        A process that reads what was cut off a mapped file is killed. This one holds nothing of its own.
        """
        shared = f"{self.path}-shm"
        try:
            size = os.stat(shared).st_size  # noqa: PTH116 - at every search
            if size < self._shared:
                os.truncate(shared, self._shared)
            self._shared = max(self._shared, size)
        except OSError:
            return  # not there: nothing of that name is mapped

    def _among(self, select: str, values: Sequence[int] | Sequence[str]) -> Iterator[tuple]:  # type: ignore[type-arg]
        for start in range(0, len(values), _AT_ONCE):
            part = values[start : start + _AT_ONCE]
            # all at once: one who stops half way would leave a question open
            yield from self.connection.execute(f"{select} ({','.join('?' * len(part))})", part).fetchall()


@contextmanager
def damage() -> Iterator[None]:
    """Errors of the database and of what it holds become `Damaged`."""
    try:
        yield
    except (sqlite3.DatabaseError, ValueError, TypeError, KeyError) as error:
        raise Damaged(f"notes.db cannot be read: {error}") from error


def open_store(path: Path, *, write: bool) -> PassageStore:
    """Open the store, made when `write` and missing. Raises `Damaged`: missing, broken or of another version."""
    if not write and not path.is_file():
        raise Damaged("notes.db is missing")
    with damage():
        if write:
            touch(path)  # SQLite gives its log the same mode
        connection = sqlite3.connect(path, isolation_level=None, timeout=10.0, check_same_thread=False)
        try:
            store = PassageStore(connection, path)
            if write:
                connection.execute("pragma journal_mode = wal")
                connection.execute("pragma synchronous = normal")
                connection.executescript(_SCHEMA)
            else:
                connection.execute("pragma query_only = 1")
            if store.meta("version", str(VERSION) if write else "") != str(VERSION):
                raise Damaged("notes.db is of another version")
        except BaseException:
            connection.close()
            raise
    return store


def _path_clause(path: str) -> str:
    return "path glob ?" if "*" in path else "(path >= ? and path < ?)"


def _path_values(path: str) -> tuple[str, ...]:
    """What goes into the clause: a pattern, or the first and the last of the paths that begin so."""
    return (path.replace("[", "[[]"),) if "*" in path else (path, path + _LAST)


def _record(row: Sequence[object]) -> Record:
    note, *shown, data, text, checksum, _ = row
    if _crc(*shown, text) != checksum:
        raise Damaged(f"notes.db is damaged: a wrong checksum at {shown[0]}")
    headings = tuple((int(at), tuple(path)) for at, path in json.loads(str(shown[7])))
    facets = tuple((str(key), str(value)) for key, value in json.loads(str(shown[8])))
    path, digest, status, reason, title, name, day = shown[:7]
    return Record(note, path, digest, status, reason, title, name, day, headings, facets, data, text)  # type: ignore[arg-type]


def _data_crc(note: object, path: object, day: object, status: object, data: bytes) -> int:
    """Of what scoring reads of a row, without its text."""
    return crc32(data, crc32(f"{note}\0{path}\0{day}\0{status}".encode("utf-8", "surrogatepass")))


def _crc(*values: object) -> int:
    return crc32("\0".join(map(str, values)).encode("utf-8", "surrogatepass"))
