"""Counts the notes and units of each term, as changes that add up while notes are added and removed."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agent.index.arrays import NoteArrays, hood
from agent.index.passage_store import IndexTotals


@dataclass(slots=True)
class Frequencies:
    """The sum of added notes, minus the removed ones."""

    totals: IndexTotals = IndexTotals()
    _terms: list[NDArray[np.uint64]] = field(default_factory=list)
    _notes: list[NDArray[np.int64]] = field(default_factory=list)
    _units: list[NDArray[np.int64]] = field(default_factory=list)

    def count(self, arrays: NoteArrays, sign: int = 1) -> None:
        """Add a note, or subtract it with `sign` -1."""
        lengths = np.diff(arrays.ends, prepend=0)
        units = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
        pairs = np.unique((arrays.terms.astype(np.uint64) << np.uint64(32)) | units) >> np.uint64(32)
        both = np.concatenate((pairs, np.unique(arrays.extra).astype(np.uint64)))
        terms, place = np.unique(both, return_inverse=True)
        in_units = np.bincount(place[: len(pairs)], minlength=len(terms))
        self._terms.append(terms)
        self._notes.append(np.full(len(terms), sign, dtype=np.int64))
        self._units.append(in_units.astype(np.int64) * sign)
        total = np.concatenate(([0], np.cumsum(lengths)))
        low, high = hood(len(lengths))
        mine = IndexTotals(1, len(lengths), len(arrays.terms), int((total[high] - total[low]).sum()))
        self.totals = self.totals.plus(mine, sign)

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
