"""The passage store in PostgreSQL: a row for every indexed note, and the statistics of all, for many readers.

An update is one transaction: no note is ever pending, and no reader sees a part of one. PostgreSQL has a checksum for
each page of its own. Text is stored as bytes, or as JSON in ASCII: its own text can hold no NUL.
"""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from fnmatch import translate
from re import compile as pattern

from agent.dataclass import dataclass
from agent.index.files import Damaged
from agent.index.fingerprint import fingerprint, with_note
from agent.index.postgres_session import IndexSession
from agent.index.records import Filters, IndexTotals, NoteStatus, StoredNote, is_attachment
from agent.json_value import parse_json

SCHEMA = """
create table meta (key text primary key, value text not null);
create table note (id int primary key, path text collate "C" not null unique, hash text not null,
  status text not null, reason text not null, day text collate "C" not null, shown text not null,
  data bytea not null, content bytea not null);
create index on note (day, path) where day <> '';
create index on note (path) where status <> 'indexed' or reason <> '';
create table facet (key text collate "C" not null, value text collate "C" not null, note int not null);
create index on facet (key, value, note);
create index on facet (note);
create table term (hash int primary key, notes int not null, units int not null);
create table folder (path text collate "C" primary key, notes int not null);
"""
_ENOUGH = 40
"""Notes up to which those of a folder are counted; see `signals.shared_terms`."""
_LAST = "\U0010ffff"
_LISTING, _ATTACHED = "listing", "attached"
_IS_NOTE = "right(path, 3) = '.md'"


@dataclass(slots=True)
class PostgresStore:
    """An open store; see `NoteStore`. The one that writes shares its session with the index's claim, and leaves it
    open."""

    session: IndexSession
    is_writer: bool = False
    _meta: dict[str, str] | None = field(default=None, init=False)
    _changed: set[str] = field(default_factory=set, init=False)
    _sizes: dict[str, int] = field(default_factory=dict, init=False)
    """The notes of folders that were counted, in the index of `_counted`."""
    _counted: str = field(default="", init=False)

    def close(self) -> None:
        self._meta = None
        if not self.is_writer:
            self.session.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self.session.snapshot():
            self._meta = None
            try:
                yield
            finally:
                self._meta = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            with self.session.transaction() as connection:
                self._meta = None
                yield
                rows = [(key, self.meta(key)) for key in sorted(self._changed)]
                insert = "insert into meta values (%s, %s) on conflict (key) do update set value = excluded.value"
                connection.cursor().executemany(insert, rows)
        finally:
            self._meta = None
            self._changed.clear()

    def make(self) -> None:
        """Create the tables, where there are none."""
        if not self.session.has("meta"):
            with self.session.transaction() as connection:
                connection.execute(SCHEMA)

    def meta(self, key: str, default: str = "") -> str:
        if self._meta is None:
            with self.session.reading() as connection:
                self._meta = dict(connection.execute("select key, value from meta").fetchall())
        found, default_text = self._meta, default
        if not self._is_inside:
            self._meta = None
        return found.get(key, default_text)

    def set_meta(self, key: str, value: str) -> None:
        """Record a property of the index, in a transaction."""
        self.meta(key)
        assert self._meta is not None
        self._meta[key] = value
        self._changed.add(key)

    def totals(self) -> IndexTotals:
        return IndexTotals(**parse_json(self.meta("totals", "{}")))

    def listing(self, *, attachments: bool = False) -> tuple[int, int]:
        count, mark = self.meta(_ATTACHED if attachments else _LISTING, "0 0").split()
        return int(count), int(mark)

    def incomplete(self, *, attachments: bool = False) -> dict[str, tuple[NoteStatus, str]]:
        rows = self._rows("select path, status, reason from note where status <> 'indexed' or reason <> ''")
        return {path: (status, reason) for path, status, reason in rows if is_attachment(path) is attachments}

    def hashes(self, *, attachments: bool = False) -> dict[str, str]:
        return dict(self._rows(f"select path, hash from note where ({_IS_NOTE}) <> %s", (attachments,)))

    def hashes_of(self, paths: Iterable[str]) -> dict[str, str]:
        return dict(self._rows("select path, hash from note where path = any(%s::text[])", (list(paths),)))

    def ids(self, paths: Iterable[str]) -> dict[str, int]:
        return dict(self._rows("select path, id from note where path = any(%s::text[])", (list(paths),)))

    def pending(self) -> list[tuple[str, int]]:
        return []

    def set_pending(self, rows: Sequence[tuple[str, int]]) -> None:
        """Do nothing: an update is one transaction."""

    def add(self, records: Iterable[StoredNote]) -> None:
        some = list(records)
        with self.session.reading() as connection:
            with connection.cursor().copy("copy note from stdin (format binary)") as copy:
                copy.set_types(["int4", *["text"] * 6, "bytea", "bytea"])
                for each in some:
                    copy.write_row(_row_of(each))
            with connection.cursor().copy("copy facet from stdin (format binary)") as copy:
                copy.set_types(["text", "text", "int4"])
                for each in some:
                    for key, value in dict.fromkeys(each.facets):
                        copy.write_row((_plain(key), _plain(value), each.id))
        self._list(some, 1)

    def remove(self, ids: Sequence[int]) -> None:
        rows = self._rows("delete from note where id = any(%s::int[]) returning id, path, hash, status", (list(ids),))
        self._list([StoredNote(*row) for row in rows], -1)
        self._rows("delete from facet where note = any(%s::int[]) returning note", (list(ids),))

    def _list(self, notes: Sequence[StoredNote], sign: int) -> None:
        """Count notes in, or out (`sign` -1)."""
        folders: dict[str, int] = {}
        for key in (_LISTING, _ATTACHED):
            some = [each for each in notes if is_attachment(each.path) is (key == _ATTACHED)]
            if not some:
                continue
            count, mark = self.listing(attachments=key == _ATTACHED)
            for each in some:
                mark = with_note(mark, each.path, each.hash, sign)
            self.set_meta(key, f"{count + sign * len(some)} {mark}")
        for each in notes:
            if each.status == "indexed":
                folder = each.path.rpartition("/")[0]
                folders[folder] = folders.get(folder, 0) + sign
        self._add_to("folder", "path", "notes", [(path, count) for path, count in sorted(folders.items())])

    def _add_to(self, table: str, key: str, number: str, rows: Sequence[tuple[object, int]]) -> None:
        """Add to a number in some rows."""
        with self.session.reading() as connection:
            insert = f"insert into {table} values (%s, %s) on conflict ({key}) do update "
            connection.cursor().executemany(f"{insert} set {number} = {table}.{number} + excluded.{number}", rows)

    def data(self, ids: Sequence[int]) -> dict[int, tuple[str, str, bytes]]:
        query = "select id, path, day, data from note where id = any(%s::int[]) and status = 'indexed'"
        return {row[0]: (row[1], row[2], row[3]) for row in self._rows(query, (list(ids),), binary=True)}

    def records(self, ids: Sequence[int]) -> dict[int, StoredNote]:
        query = "select id, path, hash, status, reason, day, shown, data, content from note where id = any(%s::int[])"
        found = {row[0]: _record_of(row) for row in self._rows(query, (list(ids),), binary=True)}
        if len(found) < len(set(ids)):
            raise Damaged("the shared index is damaged: a row is missing")
        return found

    def frequencies(self, hashes: Sequence[int]) -> dict[int, tuple[int, int]]:
        by_number = {_signed(each): each for each in hashes}
        rows = self._rows("select hash, notes, units from term where hash = any(%s::int[])", ([*by_number],))
        return {by_number[number]: (notes, units) for number, notes, units in rows}

    def change_frequencies(self, changes: Mapping[int, tuple[int, int]]) -> None:
        rows = sorted((_signed(term), *more) for term, more in changes.items())
        columns = [list(each) for each in zip(*rows, strict=True)] if rows else [[], [], []]
        with self.session.reading() as connection:
            connection.execute(
                "insert into term select * from unnest(%s::int[], %s::int[], %s::int[]) on conflict (hash) do update "
                "set notes = term.notes + excluded.notes, units = term.units + excluded.units",
                columns,
            )
            fewer = [term for term, notes, _ in rows if notes < 0]
            connection.execute("delete from term where hash = any(%s::int[]) and notes <= 0", (fewer,))

    def matching(self, filters: Filters) -> "array[int]":
        """Read as one long row: each row of its own takes a microsecond."""
        conditions, values = ["status = 'indexed'"], list[object]()
        for key, value in filters.keys:
            conditions.append("exists (select from facet where facet.key = %s and value = %s and facet.note = note.id)")
            values += [_plain(key), _plain(value)]
        if filters.after or filters.before:
            conditions.append("day <> '' and day >= %s and left(day, 10) <= %s")
            values += [filters.after, filters.before or _LAST]
        if filters.paths:
            ranges = [each.partition("*")[0].partition("?")[0] if "*" in each else each for each in filters.paths]
            conditions.append("(" + " or ".join(["path >= %s and path < %s"] * len(ranges)) + ")")
            values += [bound for each in map(_plain, ranges) for bound in (each, each + _LAST)]
        found = self._numbers(f"note where {' and '.join(conditions)}", values)
        wild = [pattern(translate(each.replace("[", "[[]"))).match for each in filters.paths if "*" in each]
        if wild:
            plain = tuple(each for each in filters.paths if "*" not in each)
            rows = self._rows("select id, path from note where id = any(%s::int[])", (found.tolist(),))
            fits = [note for note, path in rows if path.startswith(plain) or any(each(path) for each in wild)]
            found = array("i", fits)
        left_out = {note for each in filters.without for note in self.matching(each)}
        return array("q", [note for note in found if note not in left_out])

    def _numbers(self, source: str, values: Sequence[object]) -> "array[int]":
        query = f"select coalesce(string_agg(int4send(id), ''::bytea), ''::bytea) from {source}"
        found = array("i", next(iter(self._rows(query, values, binary=True)))[0])
        found.byteswap()  # as the network has them
        return found

    def paths_with(self, key: str, value: str) -> frozenset[str]:
        query = "select path from note join facet on facet.note = note.id where key = %s and value = %s"
        return frozenset(row[0] for row in self._rows(query, (_plain(key), _plain(value))))

    def folders(self) -> frozenset[str]:
        found: set[str] = set()
        for (path,) in self._rows("select path from folder where notes > 0"):
            while path and path not in found:
                found.add(path)
                path = path.rpartition("/")[0]
        return frozenset(found)

    def notes_under(self, folder: str) -> int:
        if (now := self.meta("generation")) != self._counted:
            self._sizes, self._counted = {}, now
        if folder not in self._sizes:
            few = "select from note where path >= %s and path < %s and status = 'indexed' limit %s"
            ((count,),) = self._rows(f"select count(*) from ({few}) few", (f"{folder}/", f"{folder}/{_LAST}", _ENOUGH))
            self._sizes[folder] = int(count)
        return self._sizes[folder]

    def facet_keys(self) -> frozenset[str]:
        query = (
            "with recursive k as ((select key from facet order by key limit 1) union all "
            "select (select key from facet where facet.key > k.key order by key limit 1) from k "
            "where k.key is not null) select key from k where key is not null"
        )
        return frozenset(row[0] for row in self._rows(query))

    def of_days(self, spans: Sequence[tuple[str, str]], count: int) -> list[int]:
        query = "select id from note where day <> '' and day >= %s and day <= %s order by day, path limit %s"
        return [row[0] for first, last in spans for row in self._rows(query, (first, last, count))]

    def verify(self) -> None:
        with self.snapshot():
            for each in (False, True):
                hashes = self.hashes(attachments=each)
                if self.listing(attachments=each) != (len(hashes), fingerprint(hashes)):
                    raise Damaged("the shared index is damaged: rows are missing, or others")
            indexed = (
                "select count(*), coalesce(sum(length(data) + length(content)), 0) from note where status = 'indexed'"
            )
            (count, _), *_ = self._rows(indexed)
            if count != self.totals().notes:
                raise Damaged("the shared index is damaged: rows are missing, or others")

    @property
    def _is_inside(self) -> bool:
        """True in a snapshot or a transaction, whose properties stay."""
        return self.session.is_in_transaction

    def _rows(self, query: str, values: Sequence[object] = (), *, binary: bool = False) -> list[tuple]:  # type: ignore[type-arg]
        with self.session.reading() as connection, connection.cursor(binary=binary) as cursor:
            return cursor.execute(query, values).fetchall()


def _row_of(record: StoredNote) -> tuple[object, ...]:
    display = json.dumps([record.title, record.name, record.headings, record.facets])
    day = record.day if record.status == "indexed" else ""
    columns = (record.path, record.hash, record.status, _plain(record.reason), _plain(day), display)
    return (record.id, *columns, record.data, record.text.encode("utf-8", "surrogatepass"))


def _record_of(row: Sequence) -> StoredNote:  # type: ignore[type-arg]
    note, path, digest, status, reason, day, display, data, content = row
    title, name, headings, facets = parse_json(display)
    return StoredNote(
        *(note, path, digest, status, reason, title, name, day),
        headings=tuple((int(at), tuple(each)) for at, each in headings),
        facets=tuple((str(key), str(value)) for key, value in facets),
        data=data,
        text=bytes(content).decode("utf-8", "surrogatepass"),
    )


def _plain(text: str) -> str:
    """The text without what PostgreSQL cannot hold."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _signed(term: int) -> int:
    return term - (1 << 32) if term >= 1 << 31 else term
