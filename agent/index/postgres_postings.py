"""The postings of the keyword index in PostgreSQL: terms of many notes as tables, in parts that are never changed.

A part is what was written at once. It has a row for each of its terms: the notes with the term, each with the weighted
number of its occurrences and the length of its body. A note that is changed or removed is listed in its part as gone;
parts of few notes are joined as they become many. So a search reads one row for each term and part, whatever the
number of notes, and a saved note writes its own terms only.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from agent.database.connection import Connection
from agent.dataclass import dataclass
from agent.index.arrays import Words, hash_terms
from agent.index.keyword import FieldTerms

SCHEMA = """
create table part (id serial primary key, size int not null, notes int not null, terms bigint not null,
  gone int[] not null default '{}');
create table posting (part int not null, term int not null, data bytea not null, primary key (part, term));
alter table posting alter column data set storage external;
create table placed (note int primary key, part int not null, terms int not null);
"""
TOGETHER = 20_000
"""Notes of the largest part that is written: their terms take 50 MB before."""
_LARGE = 4_096
"""Notes from which a part is not joined with others."""
_MANY = 16
"""Parts of about one size that are joined: for each 16 times the size there are fewer than so many."""
_GONE = 4
"""A large part of which one note in so many is gone is written anew."""
_LONGEST = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class Postings:
    """The notes with a term, in the order of their numbers, with its weight in each and each one's length in terms."""

    notes: NDArray[np.int32]
    weights: NDArray[np.float32]
    lengths: NDArray[np.float32]

    def to_bytes(self) -> bytes:
        rows = (self.notes.astype("<i4"), self.weights.astype("<f2"), np.minimum(self.lengths, _LONGEST).astype("<u2"))
        return b"".join(row.tobytes() for row in rows)

    def without(self, gone: NDArray[np.int32]) -> "Postings":
        """The same without some notes (sorted)."""
        if not len(gone):
            return self
        at = np.minimum(np.searchsorted(gone, self.notes), len(gone) - 1)
        left = gone[at] != self.notes
        return self if left.all() else Postings(self.notes[left], self.weights[left], self.lengths[left])


def parse_postings(data: bytes) -> Postings:
    """The postings in a row; raises `ValueError` for a row that is cut short."""
    count = len(data) // 8
    if count * 8 != len(data):
        raise ValueError("a row of postings is cut short")
    return Postings(
        np.frombuffer(data, "<i4", count),
        np.frombuffer(data, "<f2", count, 4 * count).astype(np.float32),
        np.frombuffer(data, "<u2", count, 6 * count).astype(np.float32),
    )


def signed(terms: Words) -> NDArray[np.int32]:
    """The checksums of terms as PostgreSQL's integers."""
    return terms.view(np.int32)


def add_notes(connection: Connection, added: Iterable[tuple[int, FieldTerms]], fields: Mapping[str, float]) -> None:
    """Write notes that the tables do not have, in parts; `fields` is the weight of a term in each field."""
    rest = iter(added)
    while some := list(islice(((note, *_weighed(found, fields)) for note, found in rest), TOGETHER)):
        notes = np.array([each[0] for each in some], np.int32)
        sizes = np.array([len(each[1]) for each in some])
        lengths = np.array([each[3] for each in some], np.int64)
        terms, weights = (np.concatenate([each[at] for each in some]) for at in (1, 2))
        places = np.repeat(np.arange(len(some)), sizes)
        part = _new_part(connection, len(some), int(lengths.sum()))
        with connection.cursor().copy("copy placed from stdin (format binary)") as copy:
            copy.set_types(["int4", "int4", "int4"])
            for note, length in zip(notes.tolist(), lengths.tolist(), strict=True):
                copy.write_row((note, part, length))
        _write(connection, part, signed(terms), Postings(notes[places], weights, lengths[places].astype(np.float32)))


def remove_notes(connection: Connection, notes: Sequence[int]) -> None:
    """Remove notes, whether they are there or not."""
    if not notes:
        return
    connection.execute(
        "with away as (delete from placed where note = any(%s::int[]) returning note, part, terms), "
        "sums as (select part, count(*) notes, sum(terms) terms, array_agg(note) gone from away group by part) "
        "update part set notes = part.notes - sums.notes, terms = part.terms - sums.terms, "
        "gone = part.gone || sums.gone from sums where part.id = sums.part",
        (list(notes),),
    )


def join_parts(connection: Connection) -> None:
    """Join small parts where they are many, and write those anew of which much is gone."""
    rows = connection.execute("select id, size, cardinality(gone) from part").fetchall()
    tiers: dict[int, list[int]] = {}
    for part, size, gone in rows:
        if size < _LARGE:
            tiers.setdefault((max(size - gone, 1).bit_length() - 1) // 4, []).append(part)
        elif gone * _GONE > size:
            _join(connection, [part])
    for parts in tiers.values():
        if len(parts) >= _MANY:
            _join(connection, parts)


def _join(connection: Connection, parts: Sequence[int]) -> None:
    """Write parts as one, without what is gone of them."""
    rows = connection.execute("select id, gone from part where id = any(%s::int[])", (parts,)).fetchall()
    gone = {part: np.sort(np.array(notes, np.int32)) for part, notes in rows}
    terms, found = list[int](), list[Postings]()
    select = "select part, term, data from posting where part = any(%s::int[])"
    with connection.cursor(binary=True) as cursor:
        for part, term, data in cursor.execute(select, (parts,)):
            terms.append(term)
            found.append(parse_postings(data).without(gone[part]))
    size, length = connection.execute(
        "select coalesce(sum(notes), 0)::int, coalesce(sum(terms), 0)::bigint from part where id = any(%s::int[])",
        (parts,),
    ).fetchone() or (0, 0)
    part = _new_part(connection, size, length) if size else None
    connection.execute("update placed set part = %s where part = any(%s::int[])", (part, parts))
    connection.execute("delete from posting where part = any(%s::int[])", (parts,))
    connection.execute("delete from part where id = any(%s::int[])", (parts,))
    if part is not None:
        of = np.repeat(np.array(terms, np.int32), [len(each.notes) for each in found])
        columns = (np.concatenate([getattr(each, name) for each in found]) for name in Postings.__annotations__)
        _write(connection, part, of, Postings(*columns))


def _new_part(connection: Connection, notes: int, terms: int) -> int:
    row = connection.execute(
        "insert into part (size, notes, terms) values (%s, %s, %s) returning id", (notes, notes, terms)
    ).fetchone()
    assert row is not None
    return int(str(row[0]))


def _write(connection: Connection, part: int, terms: NDArray[np.int32], found: Postings) -> None:
    """Write the postings of a part, of which each stands beside its term."""
    order = np.lexsort((found.notes, terms))
    terms = terms[order]
    found = Postings(found.notes[order], found.weights[order], found.lengths[order])
    starts = np.flatnonzero(np.concatenate(([True], terms[1:] != terms[:-1]))) if len(terms) else np.zeros(0, int)
    with connection.cursor().copy("copy posting from stdin (format binary)") as copy:
        copy.set_types(["int4", "int4", "bytea"])
        for term, start, end in zip(
            terms[starts].tolist(), starts.tolist(), [*starts[1:].tolist(), len(terms)], strict=True
        ):
            some = Postings(found.notes[start:end], found.weights[start:end], found.lengths[start:end])
            copy.write_row((part, term, some.to_bytes()))


def _weighed(found: FieldTerms, fields: Mapping[str, float]) -> tuple[Words, NDArray[np.float64], int]:
    """The distinct terms of a note, the weight of each, and the length of its body."""
    hashes = [hash_terms(found[name]) for name in fields]
    times = np.repeat(np.array([*fields.values()]), [len(each) for each in hashes])
    terms, at = np.unique(np.concatenate(hashes), return_inverse=True)
    weights = np.bincount(at, times, len(terms)).astype(np.float64)
    return terms, weights, len(found["body"])
