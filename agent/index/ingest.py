"""Reads, encodes and stores the notes of one update, and counts their terms.

Runs inside the database transaction of `update` and streams, so that the first index of many notes holds a few hundred
in memory. Committing is left to `update`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agent.errors import AgentError
from agent.index import document
from agent.index.arrays import Batch, Ints, Words, batch
from agent.index.embedder import EmbedderChoice
from agent.index.encode import encode
from agent.index.keyword import FieldTerms
from agent.index.passage_store import IndexTotals, PassageStore, StoredNote
from agent.index.vector import VectorIndex
from agent.index.weights import Weights

NoteReader: TypeAlias = Callable[[str], bytes | None]
"""The bytes of the note at a path; None if it does not exist. May raise `OSError` or `AgentError`: the note counts as
failed."""
_TOGETHER = 200
"""The most notes that are encoded at once."""
_UNITS_TOGETHER = 20_000
"""Units at which a group of notes is complete."""


@dataclass(slots=True)
class Frequencies:
    """The sum of added notes, minus the removed ones."""

    totals: IndexTotals = IndexTotals()
    _terms: list[NDArray[np.uint64]] = field(default_factory=list)
    _notes: list[NDArray[np.int64]] = field(default_factory=list)
    _units: list[NDArray[np.int64]] = field(default_factory=list)

    def count(self, rows: Sequence[bytes], sign: int = 1) -> None:
        """Add these notes (`NoteArrays.to_bytes`), or subtract them with `sign` -1."""
        for at in range(0, len(rows), _TOGETHER):
            self._count(batch(rows[at : at + _TOGETHER]), sign)

    def _count(self, notes: Batch, sign: int) -> None:
        arrays = notes.arrays
        lengths = np.diff(arrays.ends, prepend=0)
        unit = np.repeat(np.arange(notes.units, dtype=np.int32), lengths)
        in_units = _distinct_terms(arrays.terms, unit)
        note = np.concatenate((notes.unit_note[unit], notes.extra_note))
        in_notes = _distinct_terms(np.concatenate((arrays.terms, arrays.extra)), note)
        terms, place = np.unique(in_notes, return_inverse=True)
        self._terms.append(terms)
        self._notes.append(sign * np.bincount(place, minlength=len(terms)))
        self._units.append(sign * np.bincount(np.searchsorted(terms, in_units), minlength=len(terms)))
        total = np.concatenate(([0], np.cumsum(lengths)))
        hoods = int((total[notes.high] - total[notes.low]).sum())
        self.totals = self.totals.plus(IndexTotals(notes.notes, notes.units, len(arrays.terms), hoods), sign)

    def changes(self) -> dict[int, tuple[int, int]]:
        """The change in the numbers of notes and units, for each term with a change."""
        if not self._terms:
            return {}
        terms, place = np.unique(np.concatenate(self._terms), return_inverse=True)
        notes = np.bincount(place, np.concatenate(self._notes), len(terms)).astype(np.int64)
        units = np.bincount(place, np.concatenate(self._units), len(terms)).astype(np.int64)
        return {
            term: (more_notes, more_units)
            for term, more_notes, more_units in zip(terms.tolist(), notes.tolist(), units.tolist(), strict=True)
            if more_notes or more_units
        }


def _distinct_terms(terms: Words, places: Ints) -> NDArray[np.uint64]:
    """The term of each distinct pair of a term and a place, sorted."""
    pairs = (terms.astype(np.uint64) << np.uint64(32)) | places.astype(np.uint64)
    return np.unique(pairs) >> np.uint64(32)


@dataclass(slots=True)
class Ingestion:
    """The notes of one update, with the counts of those already done."""

    store: PassageStore
    vectors: VectorIndex | None
    chosen: EmbedderChoice
    weights: Weights
    numbers: Mapping[str, int]
    listed: Mapping[str, str]
    frequencies: Frequencies = field(default_factory=Frequencies)
    indexed: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def forget(self, notes: Sequence[int]) -> None:
        """Remove notes from the store, the statistics and the vectors."""
        self.frequencies.count([data for _, _, data in self.store.data(notes).values()], -1)
        self.store.remove(notes)
        if self.vectors is not None:
            self.vectors.remove(notes)

    def stream(self, paths: Sequence[str], read: NoteReader) -> Iterator[tuple[int, FieldTerms]]:
        """Read, encode and store the notes, and yield each for the keyword engine."""
        for documents in self._batches(paths, read):
            encoded = encode(documents, self.chosen.embedder, self.weights.fields)
            rows = [each.arrays.to_bytes() for each in encoded]
            self.store.add(map(self._record, documents, rows))
            self.frequencies.count(rows)
            if self.vectors is not None:
                numbers = [self.numbers[each.path] for each in documents]
                self.vectors.add(numbers, [each.chunks for each in encoded])
            self.indexed += len(documents)
            for each_document in documents:
                yield self.numbers[each_document.path], each_document.fields

    def _batches(self, paths: Sequence[str], read: NoteReader) -> Iterator[list[document.Document]]:
        """The notes that can be read, in groups that fit into a bounded memory."""
        some: list[document.Document] = []
        units = 0
        for path in paths:
            found = self._document(path, read)
            if found is None:
                continue
            some.append(found)
            units += len(found.units)
            if len(some) == _TOGETHER or units >= _UNITS_TOGETHER:
                yield some
                some, units = [], 0
        if some:
            yield some

    def finish(self) -> None:
        self.store.change_frequencies(self.frequencies.changes())
        totals: IndexTotals = self.store.totals().plus(self.frequencies.totals)
        self.store.set_meta("totals", json.dumps(asdict(totals)))

    def _document(self, path: str, read: NoteReader) -> document.Document | None:
        try:
            data = read(path)
        except (OSError, AgentError) as error:
            self._leave(path, "failed", str(error) or type(error).__name__)
            return None
        if data is None:
            return None  # deleted since it was listed
        if len(data) > document.LARGEST:
            self._leave(path, "skipped", f"larger than {document.LARGEST // 1024 // 1024} MB")
            return None
        if document.is_binary(data):
            self._leave(path, "skipped", "not text")
            return None
        return document.parse_document(path, data)

    def _leave(self, path: str, status: str, reason: str) -> None:
        """Record that a note is not indexed; a failed one has no hash, so that the next update tries it again."""
        if status == "failed":
            self.failed.append((path, reason))
            self.store.add([StoredNote(self.numbers[path], path, "", "failed", reason)])
        else:
            self.skipped.append((path, reason))
            self.store.add([StoredNote(self.numbers[path], path, self.listed[path], "skipped", reason)])

    def _record(self, found: document.Document, data: bytes) -> StoredNote:
        return stored_note(self.numbers[found.path], self.listed[found.path], found, data)


def stored_note(number: int, digest: str, found: document.Document, data: bytes) -> StoredNote:
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
