"""Counts in how many notes and units each term occurs: the statistics that scores rest on."""

from collections.abc import Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.arrays import Ints, Words, batch
from agent.index.records import IndexTotals

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
