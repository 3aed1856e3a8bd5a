"""Turns notes into what the index stores of them: the part of indexing that takes time, and touches no file.

What is prepared depends on the notes and the embedder alone, so that it can be done in any process (`processes`).

Notes that are searched without being in the index, as an editor holds them, are prepared as those that are.

Counts in how many notes and units each term occurs: the statistics that scores rest on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.arrays import Floats, Ints, Words, batch
from agent.index.document import Document, parse_attachment, parse_document
from agent.index.embedder import Embedder
from agent.index.encode import encode
from agent.index.keyword import FieldTerms
from agent.index.records import Filters, IndexTotals, StoredNote, is_attachment

_TOGETHER = 200
"""The most notes that are counted at once."""


@dataclass(frozen=True, slots=True)
class TermCounts:
    """Some notes: their terms in order, the numbers of notes and of units with each term, and the sums over all."""

    terms: NDArray[np.uint64]
    notes: NDArray[np.int64]
    units: NDArray[np.int64]
    totals: IndexTotals


def count_terms(rows: Sequence[bytes]) -> TermCounts:
    """The counts of a few hundred notes at most (`NoteArrays.to_bytes`)."""
    notes = batch(rows)
    arrays = notes.arrays
    lengths = np.diff(arrays.ends, prepend=0)
    unit = np.repeat(np.arange(notes.units, dtype=np.int32), lengths)
    in_units = _distinct_terms(arrays.terms, unit)
    note = np.concatenate((notes.unit_note[unit], notes.extra_note))
    in_notes = _distinct_terms(np.concatenate((arrays.terms, arrays.extra)), note)
    terms, place = np.unique(in_notes, return_inverse=True)
    total = np.concatenate(([0], np.cumsum(lengths)))
    hoods = int((total[notes.high] - total[notes.low]).sum())
    return TermCounts(
        terms,
        np.bincount(place, minlength=len(terms)),
        np.bincount(np.searchsorted(terms, in_units), minlength=len(terms)),
        IndexTotals(notes.notes, notes.units, len(arrays.terms), hoods),
    )


def _distinct_terms(terms: Words, places: Ints) -> NDArray[np.uint64]:
    """The term of each distinct pair of a term and a place, sorted."""
    pairs = (terms.astype(np.uint64) << np.uint64(32)) | places.astype(np.uint64)
    pairs.sort()
    is_first: NDArray[np.bool_] = np.diff(pairs, prepend=~pairs[:1]) != 0  # `np.unique` loads its masked arrays first
    found: NDArray[np.uint64] = pairs[is_first] >> np.uint64(32)
    return found


@dataclass(slots=True)
class CountChanges:
    """The sum of added notes, minus the removed ones."""

    totals: IndexTotals = IndexTotals()
    _added: list[tuple[TermCounts, int]] = field(default_factory=list)

    def add(self, counts: TermCounts, sign: int = 1) -> None:
        """Add counted notes, or subtract them with `sign` -1."""
        self._added.append((counts, sign))
        self.totals = self.totals.plus(counts.totals, sign)

    def subtract(self, rows: Sequence[bytes]) -> None:
        """Subtract any number of notes (`NoteArrays.to_bytes`)."""
        for at in range(0, len(rows), _TOGETHER):
            self.add(count_terms(rows[at : at + _TOGETHER]), -1)

    def changes(self) -> dict[int, tuple[int, int]]:
        """The change in the numbers of notes and units, for each term with a change."""
        if not self._added:
            return {}
        terms, place = np.unique(np.concatenate([each.terms for each, _ in self._added]), return_inverse=True)
        notes = np.bincount(place, np.concatenate([sign * each.notes for each, sign in self._added]), len(terms))
        units = np.bincount(place, np.concatenate([sign * each.units for each, sign in self._added]), len(terms))
        changed = (notes != 0) | (units != 0)
        rows = (terms[changed], notes[changed].astype(np.int64), units[changed].astype(np.int64))
        return {
            term: (more_notes, more_units)
            for term, more_notes, more_units in zip(*(row.tolist() for row in rows), strict=True)
        }


MOST_NOTES = 200
"""The most notes that are prepared at once: tokenizing and summing many together is several times as fast."""
_MOST_BYTES = 1_000_000
"""Bytes of notes at which a group is complete: what is made of them takes about thirty times as much memory."""


@dataclass(frozen=True, slots=True)
class NoteBytes:
    """A note to index: its number in the index, path, content hash and bytes."""

    number: int
    path: str
    digest: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PreparedNote:
    """A note as it is stored: its row, its terms for the keyword engine, and a vector for each chunk."""

    record: StoredNote
    fields: FieldTerms
    chunks: Floats


@dataclass(frozen=True, slots=True)
class PreparedGroup:
    """Notes that were prepared together, with the counts of their terms."""

    notes: tuple[PreparedNote, ...]
    counts: TermCounts


def in_groups(notes: Iterable[NoteBytes]) -> Iterator[Sequence[NoteBytes]]:
    """The notes in groups that fit into a bounded memory; a large note is a group of its own."""
    group: list[NoteBytes] = []
    size = 0
    for note in notes:
        if group and (len(group) == MOST_NOTES or size + len(note.data) > _MOST_BYTES):
            yield group
            group, size = [], 0
        group.append(note)
        size += len(note.data)
    if group:
        yield group


def prepare(group: Sequence[NoteBytes], embedder: Embedder | None, fields: Mapping[str, float]) -> PreparedGroup:
    """The notes of one group, in order; never fails, whatever their bytes. `fields`: the weight of a term in each."""
    documents = [
        (parse_attachment if is_attachment(note.path) else parse_document)(note.path, note.data) for note in group
    ]
    encoded = encode(documents, embedder, fields)
    rows = [each.arrays.to_bytes() for each in encoded]
    notes = tuple(
        PreparedNote(stored_note(note.number, note.digest, found, row), found.fields, each.chunks)
        for note, found, row, each in zip(group, documents, rows, encoded, strict=True)
    )
    return PreparedGroup(notes, count_terms(rows))


def stored_note(number: int, digest: str, found: Document, data: bytes) -> StoredNote:
    """The row of a note; `data` is its row of arrays."""
    headings: list[tuple[int, tuple[str, ...]]] = []
    for at, unit in enumerate(found.units):
        if not headings or headings[-1][1] != unit.headings:
            headings.append((at, unit.headings))
    return StoredNote(
        *(number, found.path, digest, "indexed", found.problem, found.title, found.id, found.day),
        headings=tuple(headings),
        facets=found.facets,
        data=data,
        text=found.text,
    )


def encode_unsaved(
    unsaved: Iterable[tuple[str, bytes]], embedder: Embedder | None, fields: Mapping[str, float]
) -> Sequence[StoredNote]:
    """The notes (path, bytes) as rows of the store with numbers of their own; `fields` as in `encode`."""
    documents = [parse_document(path, data) for path, data in unsaved]
    rows = encode(documents, embedder, fields)
    return [
        stored_note(-at, "", each, row.arrays.to_bytes())
        for at, (each, row) in enumerate(zip(documents, rows, strict=True), 1)
    ]


def satisfying(notes: Iterable[StoredNote], filters: Filters) -> Mapping[int, StoredNote]:
    """Those of the notes that satisfy every filter, by their numbers."""
    return {each.id: each for each in notes if _satisfies(each, filters)}


def _satisfies(note: StoredNote, filters: Filters) -> bool:
    is_at = not filters.paths or any(note.path.startswith(path) for path in filters.paths)
    is_in_time = (filters.after or "") <= note.day <= (filters.before or "9999")
    is_left_out = any(_satisfies(note, each) for each in filters.without)
    return is_at and is_in_time and not is_left_out and all(key in note.facets for key in filters.keys)
