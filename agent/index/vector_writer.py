"""Writes the chunk vectors of an index: a changed note costs its own chunks, whatever there is beside them.

Chunks are written as they come, so a first index holds none in memory, but become valid only with the state that `save`
returns. Once a tenth is removed, or the middle of their signs has moved, what is left is copied into a new folder; the
old one is deleted by `update`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.arrays import Floats
from agent.index.files import Damaged, IndexFiles
from agent.index.keyword import EXACT_CHUNKS
from agent.index.nearest import SmallRows, small_rows
from agent.index.signs import Middle, middle_of
from agent.index.vector_files import (
    ColumnExtent,
    VectorColumns,
    VectorState,
    columns_of,
    make_heads,
    new_state,
    parse_state,
)

_REMOVED_SHARE = 0.1
"""The share of removed chunks at which the others are copied: a second for a million chunks, then for none of the next
100,000 removals."""
_NONE = ColumnExtent()
_TOGETHER = 10_000
"""Rows that are read at once where some are removed."""


@dataclass(slots=True)
class VectorWriter:
    """The vectors of one index while it is written; of each chunk it holds the note and whether it is there. Up to
    `exact` chunks, the middle of their signs is zero."""

    files: IndexFiles
    dimensions: int
    exact: int = EXACT_CHUNKS
    state: VectorState = field(init=False)
    _saved: VectorState = field(init=False)
    """The last one that may be valid elsewhere."""
    _middle: Middle = field(init=False)
    _sums: NDArray[np.int64] = field(init=False)
    _notes: NDArray[np.uint32] = field(init=False)
    _is_there: NDArray[np.bool_] = field(init=False)
    _added: list[NDArray[np.uint32]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._saved = new_state(self.dimensions)
        self._hold(self._saved, np.zeros(0, np.uint32), np.zeros(0, np.uint32))

    def __len__(self) -> int:
        """The chunks that are there."""
        self._join()
        return int(np.count_nonzero(self._is_there))

    def load(self, state: str, *, verify: bool = False) -> None:
        """Continue from a state, as `save` returned it; raises `Damaged` when the files are not of it.

        Without `verify`, the rows are not read.
        """
        found = parse_state(state, self.dimensions)
        columns = self._columns(found)
        heads = [part["note"].copy() for part in columns.heads.read(_NONE, found.heads)]
        if verify:
            for _ in columns.rows.read(_NONE, found.rows):
                pass
        notes = np.concatenate([np.zeros(0, np.uint32), *heads])
        self._hold(found, notes, columns.gone.read_all(_NONE, found.gone))
        self._saved = found

    def add(self, notes: Sequence[int], vectors: Sequence[Floats]) -> None:
        """Add the chunk vectors of notes that are not in the index."""
        numbers = np.repeat(np.array(notes, np.uint32), [len(rows) for rows in vectors])
        if not len(numbers):
            return
        rows, columns = small_rows(np.concatenate([each for each in vectors if len(each)])), self._columns(self.state)
        self.state = replace(
            self.state,
            heads=columns.heads.append(self.state.heads, make_heads(numbers, rows, self._middle, columns.heads.kind)),
            rows=columns.rows.append(self.state.rows, rows),
        )
        self._sums += rows.sum(axis=0, dtype=np.int64)
        self._added.append(numbers)

    def remove(self, notes: Iterable[int]) -> None:
        """Remove notes, whether indexed or not; raises `Damaged`."""
        self._join()
        gone = np.flatnonzero(np.isin(self._notes, np.array([*notes], np.uint32)) & self._is_there)
        if len(gone):
            for at in range(0, len(gone), _TOGETHER):
                self._sums -= self._rows_at(gone[at : at + _TOGETHER]).sum(axis=0, dtype=np.int64)
            places = gone.astype(np.uint32)
            self.state = replace(self.state, gone=self._columns(self.state).gone.append(self.state.gone, places))
            self._is_there[gone] = False

    def save(self) -> str:
        """The state with all that was added and removed, for `load` and for readers; raises `Damaged`."""
        middle = middle_of(self._sums, len(self), self.exact)
        is_moved = middle.tolist() != self._middle.tolist()
        if is_moved or self.state.gone.count > self.state.rows.count * _REMOVED_SHARE:
            self._copy(middle)
        self.state = self._saved = replace(self.state, sums=tuple(self._sums.tolist()))
        return self.state.to_json()

    def _copy(self, middle: Middle) -> None:
        """Copy the chunks that are there into a new folder, piece by piece, with their signs about a middle."""
        old, new = self.state, replace(new_state(self.dimensions, middle), sums=tuple(self._sums.tolist()))
        source, target, start = self._columns(old), self._columns(new), 0
        for rows in source.rows.read(_NONE, old.rows):
            is_there = self._is_there[start : start + len(rows)]
            kept, notes = rows[is_there], self._notes[start : start + len(rows)][is_there]
            heads = target.heads.append(new.heads, make_heads(notes, kept, middle, target.heads.kind))
            new = replace(new, heads=heads, rows=target.rows.append(new.rows, kept))
            start += len(rows)
        for column, valid in ((source.heads, self._saved.heads), (source.rows, self._saved.rows)):
            column.shorten(valid)  # a first index is written here before it is copied: no reader knows of it
        self._hold(new, self._notes[self._is_there], np.zeros(0, np.uint32))

    def _rows_at(self, places: NDArray[np.intp]) -> SmallRows:
        """The rows at some places; raises `Damaged` for others than were written."""
        columns = self._columns(self.state)
        rows: SmallRows = columns.rows.read_at(places)
        if [crc32(row) for row in rows] != columns.heads.read_at(places)["sum"].tolist():
            raise Damaged("{path} is damaged", path=columns.rows.name)
        return rows

    def _hold(self, state: VectorState, notes: NDArray[np.uint32], gone: NDArray[np.uint32]) -> None:
        self.state, self._notes, self._is_there = state, notes, np.ones(len(notes), bool)
        self._middle, self._sums = np.array(state.middle, np.int8), np.array(state.sums, np.int64)
        self._is_there[gone] = False
        self._added.clear()

    def _join(self) -> None:
        if self._added:
            self._notes = np.concatenate([self._notes, *self._added])
            added = np.ones(len(self._notes) - len(self._is_there), bool)
            self._is_there = np.concatenate([self._is_there, added])
            self._added.clear()

    def _columns(self, state: VectorState) -> VectorColumns:
        return columns_of(self.files.vectors(state.name), self.dimensions)
