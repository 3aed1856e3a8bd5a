"""The passage store: one SQLite file with a row for every indexed note, and tables to look notes up.

It answers a search without reading any note, and records which other files are current. Readers use a snapshot and
never wait for the writer. Every row has a checksum; a note's row is selected only by its number, and every other key is
looked up in `buckets`, so that a lost row is detected.
"""

import errno
import json
import os
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import cast

from agent.config.private import touch
from agent.dataclass import dataclass
from agent.index.buckets import AMONG, Buckets, LookupTable, StoredValue
from agent.index.files import Damaged, store_errors
from agent.index.fingerprint import fingerprint, with_note
from agent.index.indexed_paths import IndexedPaths
from agent.index.note_rows import SCHEMA, data_checksum, entries_of, facet, record_of, row_of
from agent.index.records import Filters, IndexTotals, NoteStatus, StoredNote, is_attachment
from agent.json_value import parse_json

VERSION = 12
"""The version of the whole index's format; a file of another version is rebuilt."""
_SHARED = 32 * 1024
"""Bytes of the smallest index of SQLite's log, which all its processes map."""
_PAGES = "pragma cache_size = -64"
"""The pages of the file that a connection keeps, in KB. Of SQLite's own 2,000 each connection of a daemon fills a
little more with every note; the system has the file in memory anyway, and searches and saves take as long."""
_LISTS = (LookupTable.FACETS, LookupTable.DAYS)
_LISTING, _ATTACHED = "listing", "attached"


@dataclass(slots=True)
class PassageStore:
    """An open store; close it after use."""

    connection: sqlite3.Connection
    path: Path
    _buckets: Buckets = field(init=False)
    _shared: int = field(default=_SHARED, init=False)
    _indexed: IndexedPaths | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._buckets = Buckets(self.connection)

    def close(self) -> None:
        self._lengthen()
        self.connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one consistent state inside; `sqlite3` errors become `Damaged`."""
        self._lengthen()
        with store_errors():
            self.connection.execute("begin")
            self._buckets.forget()
            try:
                yield
            finally:
                self._buckets.forget()
                if self.connection.in_transaction:
                    self.connection.execute("rollback")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make the writes inside one step: all or nothing, also when the process is killed."""
        self._lengthen()
        with store_errors():
            self.connection.execute("begin immediate")
            self._buckets.forget()
            try:
                yield
                self._buckets.flush()
                self.connection.execute("commit")
            finally:
                self._buckets.forget()
                if self.connection.in_transaction:
                    self.connection.execute("rollback")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Read inside the current snapshot or transaction, or on its own without one."""
        with store_errors():
            if not self.connection.in_transaction:
                self._buckets.forget()
            yield

    def meta(self, key: str, default: str = "") -> str:
        """A property of the index; raises `Damaged`."""
        with self._reading():
            found = self._buckets.get(LookupTable.META, key)
        return default if found is None else str(found)

    def set_meta(self, key: str, value: str) -> None:
        """Record a property of the index."""
        self._buckets.change(LookupTable.META, key)[key] = value
        if not self.connection.in_transaction:
            self._buckets.flush()

    def totals(self) -> IndexTotals:
        return IndexTotals(**parse_json(self.meta("totals", "{}")))

    def listing(self, *, attachments: bool = False) -> tuple[int, int]:
        """The number of all known notes, or attachments, and the fingerprint of their hashes; raises `Damaged`."""
        with self._reading():
            found = self._buckets.get(LookupTable.META, _ATTACHED if attachments else _LISTING)
        return cast(tuple[int, int], tuple(cast(list[int], found or [0, 0])))

    def incomplete(self, *, attachments: bool = False) -> dict[str, tuple[NoteStatus, str]]:
        """Status and reason of each known note, or attachment, that is not found, or not whole; raises `Damaged`."""
        with self._reading():
            rows = cast(Iterator[tuple[str, tuple[NoteStatus, str]]], self._buckets.all(LookupTable.INCOMPLETE))
            return {path: (status, reason) for path, (status, reason) in rows if is_attachment(path) is attachments}

    def hashes(self, *, attachments: bool = False) -> dict[str, str]:
        """Every known note, or attachment, with its content hash; raises `Damaged`."""
        with self._reading():
            buckets = cast(Iterator[dict[str, list[str]]], self._buckets.each(LookupTable.NOTES))
            rows = (item for bucket in buckets for item in bucket.items())
            return {path: row[1] for path, row in rows if path.endswith(".md") is not attachments}

    def hashes_of(self, paths: Iterable[str]) -> dict[str, str]:
        """The content hashes of the known paths among these; raises `Damaged`."""
        with self._reading():
            rows = [(path, cast(list[str] | None, self._buckets.get(LookupTable.NOTES, path))) for path in paths]
        return {path: row[1] for path, row in rows if row is not None}

    def ids(self, paths: Iterable[str]) -> dict[str, int]:
        """The numbers of the known paths among these; raises `Damaged`, also for a missing row."""
        with self._reading():
            found = {
                path: int(cast(list[int], row)[0])
                for path in paths
                if (row := self._buckets.get(LookupTable.NOTES, path))
            }
            if len(list(self._among("select id from note where id in", [*found.values()]))) < len(found):
                raise Damaged("notes.db is damaged: a row is missing")
        return found

    def pending(self) -> list[tuple[str, int]]:
        """The paths, with their numbers, that the last update has not finished."""
        return [(str(path), int(note)) for path, note in parse_json(self.meta("pending", "[]"))]

    def set_pending(self, rows: Sequence[tuple[str, int]]) -> None:
        self.set_meta("pending", json.dumps(rows))

    def notes(self) -> dict[str, tuple[int, str, NoteStatus, str]]:
        """Every known path with its number, hash, status and reason; raises `Damaged`."""
        found: dict[str, StoredValue] = {}
        with self._reading():
            for bucket in self._buckets.each(LookupTable.NOTES):
                found.update(bucket)
        return cast(dict[str, tuple[int, str, NoteStatus, str]], found)

    def add(self, records: Iterable[StoredNote]) -> None:
        rows = []
        for each in records:
            rows.append(row_of(each))
            row: list[StoredValue] = [each.id, each.hash, each.status, each.reason]
            self._buckets.change(LookupTable.NOTES, each.path)[each.path] = row
            self._list(each, 1)
            for table, key, value in entries_of(each):
                cast(list[StoredValue], self._buckets.change(table, key).setdefault(key, [])).append(value)
            self._count_keys(each, 1)
        self.connection.executemany("insert into note values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def remove(self, ids: Sequence[int]) -> None:
        """Delete the rows with these numbers, existing or not; raises `Damaged`."""
        for record in [record_of(row) for row in self._among("select * from note where id in", ids)]:
            del self._buckets.change(LookupTable.NOTES, record.path)[record.path]
            self._list(record, -1)
            for table, key, value in entries_of(record):
                bucket = self._buckets.change(table, key)
                cast(list[StoredValue], bucket[key]).remove(value)
                if not bucket[key]:
                    del bucket[key]
            self._count_keys(record, -1)
        self.connection.executemany("delete from note where id = ?", [(note,) for note in ids])

    def _list(self, record: StoredNote, sign: int) -> None:
        """Count a note in, or out (`sign` -1)."""
        key = _ATTACHED if is_attachment(record.path) else _LISTING
        meta = self._buckets.change(LookupTable.META, key)
        count, mark = cast(tuple[int, int], meta.get(key, (0, 0)))
        meta[key] = [count + sign, with_note(mark, record.path, record.hash, sign)]
        if record.is_whole:
            return
        incomplete = self._buckets.change(LookupTable.INCOMPLETE, record.path)
        if sign > 0:
            incomplete[record.path] = [record.status, record.reason]
        else:
            del incomplete[record.path]

    def _count_keys(self, record: StoredNote, sign: int) -> None:
        for key, _ in set(record.facets):
            bucket = self._buckets.change(LookupTable.KEYS, key)
            bucket[key] = int(cast(int, bucket.get(key, 0))) + sign
            if bucket[key] == 0:
                del bucket[key]

    def data(self, ids: Sequence[int]) -> dict[int, tuple[str, str, bytes]]:
        """Path, day and row of arrays of the indexed notes; raises `Damaged` for a row with a wrong checksum."""
        found = {}
        select = "select id, path, day, status, data, data_crc from note where id in"
        for note, path, day, status, data, checksum in self._among(select, ids):
            if data_checksum(note, path, day, status, data) != checksum:
                raise Damaged("notes.db is damaged: a wrong checksum at {path}", path=path)
            if status == "indexed":  # after the checksum, or a damaged status would drop the row without an error
                found[int(note)] = (str(path), str(day), bytes(data))
        return found

    def records(self, ids: Sequence[int]) -> dict[int, StoredNote]:
        """The complete records of some notes; raises `Damaged` for a wrong checksum or a missing note."""
        found = {record.id: record for record in map(record_of, self._among("select * from note where id in", ids))}
        if len(found) < len(set(ids)):
            raise Damaged("notes.db is damaged: a row is missing")
        return found

    def frequencies(self, hashes: Sequence[int]) -> dict[int, tuple[int, int]]:
        """For each known term, the numbers of notes and of units that contain it; raises `Damaged`."""
        rows = [(term, cast(list[int] | None, self._buckets.get(LookupTable.TERMS, str(term)))) for term in hashes]
        return {term: (row[0], row[1]) for term, row in rows if row is not None}

    def change_frequencies(self, changes: Mapping[int, tuple[int, int]]) -> None:
        """Add to the numbers of notes and units of some terms; terms that no note contains are deleted."""
        for term, (more_notes, more_units) in changes.items():
            key = str(term)
            bucket = self._buckets.change(LookupTable.TERMS, key)
            notes, units = cast(list[int], bucket.get(key, (0, 0)))
            if notes + more_notes > 0:
                bucket[key] = [notes + more_notes, units + more_units]
            else:
                bucket.pop(key, None)

    def matching(self, filters: Filters) -> "array[int]":
        """The numbers of the indexed notes that satisfy every filter, in no order; others have no day or facet. Raises
        `Damaged`."""
        found = [self._buckets.get(LookupTable.FACETS, facet(key, value)) for key, value in filters.keys]
        lists = [array("q", cast(list[int], each or [])) for each in found]
        if filters.after or filters.before:
            days = self._days("", "")
            within = [n for day, _, n in days if filters.after <= day and day[:10] <= (filters.before or day)]
            lists.append(array("q", within))
        if filters.paths or not lists:
            lists.append(self._under(filters.paths or ("",)))
        fewest, *others = sorted(lists, key=len)
        fitting = array("q", set(fewest).intersection(*others)) if others else fewest
        left_out = {note for each in filters.without for note in self.matching(each)}
        return array("q", [note for note in fitting if note not in left_out]) if left_out else fitting

    def paths_with(self, key: str, value: str) -> frozenset[str]:
        """The indexed notes with this value, in lower case, of a key of their header; raises `Damaged`."""
        with self._reading():
            notes = self.matching(Filters(keys=((key, value),)))
            return frozenset(str(path) for (path,) in self._among("select path from note where id in", notes))

    def _under(self, wanted: Sequence[str]) -> "array[int]":
        """The indexed notes whose path begins with one of these, or matches one of these patterns."""
        first, *others = map(self.indexed_paths().under, wanted)
        return array("q", {*first}.union(*others)) if others else first

    def indexed_paths(self) -> IndexedPaths:
        """The paths of the indexed notes, as this snapshot has them."""
        state = (self.connection.execute("pragma data_version").fetchone()[0], self.connection.total_changes)
        if self._indexed is None or self._indexed.state != state:
            known = sorted((path, row[0]) for path, row in self.notes().items() if row[2] == "indexed")
            numbers = array("q", [number for _, number in known])
            self._indexed = IndexedPaths(state, [path for path, _ in known], numbers)
        return self._indexed

    def folders(self) -> frozenset[str]:
        """The folders of the indexed notes, and those above them."""
        return self.indexed_paths().folders

    def notes_under(self, folder: str) -> int:
        """How many indexed notes a folder has."""
        return len(self.indexed_paths().under(f"{folder}/"))

    def facet_keys(self) -> frozenset[str]:
        """The header keys of all notes."""
        return frozenset(key for key, _ in self._buckets.all(LookupTable.KEYS))

    def of_days(self, spans: Sequence[tuple[str, str]], count: int) -> list[int]:
        """The first notes, at most `count` for each span, with a day in the span; only indexed notes have a day."""
        found = []
        for first, last in spans:
            within = sorted(each for each in self._days(first, last) if first <= each[0] <= last)
            found += [note for _, _, note in within[:count]]
        return found

    def _days(self, first: str, last: str) -> list[tuple[str, str, int]]:
        """Day, path and number of every dated note; if both days are in one month, of that month only."""
        if first and first[:7] == last[:7]:
            months = [self._buckets.get(LookupTable.DAYS, first[:7]) or []]
        else:
            months = [each for _, each in self._buckets.all(LookupTable.DAYS)]
        return [
            cast(tuple[str, str, int], tuple(cast(list[StoredValue], row)))
            for each in months
            for row in cast(list[StoredValue], each)
        ]

    def verify(self) -> None:
        """Read everything; raise `Damaged` when a page or a row has changed since it was written."""
        with self.snapshot():
            found = self.connection.execute("pragma integrity_check(1)").fetchone()[0]
            if found != "ok":
                raise Damaged("notes.db is damaged: {problem}", problem=found)
            notes, lists, keys = {}, dict[tuple[LookupTable, str], list[str]](), Counter[str]()
            incomplete: dict[str, tuple[NoteStatus, str]] = {}
            for row in self.connection.execute("select * from note"):
                record = record_of(row)
                if data_checksum(record.id, record.path, record.day, record.status, record.data) != row[-1]:
                    raise Damaged("notes.db is damaged: a wrong checksum at {path}", path=record.path)
                notes[record.path] = [record.id, record.hash, record.status, record.reason]
                if not record.is_whole:
                    incomplete[record.path] = (record.status, record.reason)
                keys.update(key for key, _ in set(record.facets))
                for table, key, value in entries_of(record):
                    lists.setdefault((table, key), []).append(str(value))
            tables = [(table, key, each) for table in _LISTS for key, each in self._buckets.all(table)]
            known = {(table, key): sorted(map(str, cast(list[StoredValue], each))) for table, key, each in tables}
            same = known == {at: sorted(each) for at, each in lists.items()} and notes == dict(
                self._buckets.all(LookupTable.NOTES)
            )
            for each in (False, True):
                hashes = {path: str(row[1]) for path, row in notes.items() if is_attachment(path) is each}
                same = same and self.listing(attachments=each) == (len(hashes), fingerprint(hashes))
            same = same and self.incomplete() | self.incomplete(attachments=True) == incomplete
            if not same or keys != dict(self._buckets.all(LookupTable.KEYS)):
                raise Damaged("notes.db is damaged: rows are missing, or others")
            [*self._buckets.all(LookupTable.TERMS)]
            self.totals()

    def _lengthen(self) -> None:
        """Extend the file that SQLite must map to its full length; SQLite then sees zeros and reads its log again.

        A process that reads the missing part of a mapped file is killed. The file holds nothing that is not in the log.
        """
        shared = f"{self.path}-shm"
        try:
            size = os.stat(shared).st_size  # noqa: PTH116 - at every search
            if size < self._shared:
                os.truncate(shared, self._shared)
            self._shared = max(self._shared, size)
        except OSError:
            return  # no such file, so nothing is mapped

    def _among(self, select: str, values: "Sequence[int] | Sequence[str] | array[int]") -> Iterator[tuple]:  # type: ignore[type-arg]
        # fetched at once: a caller that stops early would leave the statement open
        yield from self.connection.execute(f"{select} {AMONG}", (json.dumps([*values]),)).fetchall()


def open_store(path: Path, *, write: bool) -> PassageStore:
    """Open the store, created if missing and `write`. Raises `Damaged` for a missing or broken file or another version,
    `OSError` when it may not be read or written."""
    if not write and not path.is_file():
        raise Damaged("notes.db is missing")
    if path.is_file() and not os.access(path, os.R_OK | os.W_OK if write else os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    with store_errors():
        if write:
            touch(path)  # SQLite gives its log the same mode
        connection = sqlite3.connect(path, isolation_level=None, timeout=10.0, check_same_thread=False)
        try:
            connection.execute(_PAGES)
            store = PassageStore(connection, path)
            if write:
                connection.execute("pragma journal_mode = wal")
                connection.execute("pragma synchronous = normal")
                _make(store)
            else:
                connection.execute("pragma query_only = 1")
            if _is_of_before(connection) or store.meta("version", str(VERSION) if write else "") != str(VERSION):
                raise Damaged("notes.db is of another version")
        except BaseException:
            connection.close()
            raise
    return store


def _make(store: PassageStore) -> None:
    """Create the tables of a new store; an existing one stays unchanged."""
    if not store.connection.execute("select count(*) from sqlite_master").fetchone()[0]:
        with store.transaction():
            store.connection.execute(SCHEMA)
            store._buckets.make()


def _is_of_before(connection: sqlite3.Connection) -> bool:
    """True for a store from before version 3."""
    return ("meta",) in connection.execute("select name from sqlite_master")
