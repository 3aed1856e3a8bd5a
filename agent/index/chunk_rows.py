"""The rows of chunk vectors: read where they stand at the first question, held in memory from the second one on.

A command that asks once takes some thousand rows of 256 bytes from the file. A process that asks again holds them all,
and takes them from there in a tenth of the time. All searches of a process that are of one folder share them, and those
that nothing was asked of for a while are given back.
"""

import threading
from dataclasses import field
from pathlib import Path
from weakref import WeakValueDictionary
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.files import Damaged
from agent.index.growing import GrowingArray
from agent.index.nearest import SmallRows
from agent.index.vector_files import ColumnExtent, VectorColumn


@dataclass(eq=False)  # without slots, since those of our `dataclass` leave no room for weak references
class ChunkRows:
    """The rows of one folder; `_held` are those of `_extent`, by their places."""

    column: VectorColumn
    _held: GrowingArray = field(init=False)
    _extent: ColumnExtent = field(init=False)
    _is_asked: bool = field(default=False, init=False)
    """True if anything was asked since the last call of `forget_unasked`."""
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self._forget()

    def hold(self, extent: ColumnExtent) -> SmallRows:
        """All rows of an extent, from memory; reads those that came since the last time. Raises `Damaged`."""
        with self._lock:
            self._is_asked = True
            if extent.count > self._extent.count:
                held = self._held.with_room(extent.count)
                for part in self.column.read(self._extent, extent):
                    held = held.grown(part)
                self._held, self._extent = held, extent
            rows: SmallRows = self._held.entries[: extent.count]
            return rows

    def take(self, places: NDArray[np.intp], sums: NDArray[np.uint32], extent: ColumnExtent) -> SmallRows:
        """The rows at some places of an extent, whose checksums are `sums`. Raises `Damaged` for others."""
        if self._is_asked or self._extent.count:
            return self.hold(extent).take(places, axis=0)  # a third of the time of `[places]`
        self._is_asked = True
        found: SmallRows = self.column.read_at(places)
        if [crc32(row) for row in found] != sums.tolist():
            raise Damaged("{path} is damaged", path=self.column.name)
        return found

    def forget_unasked(self) -> None:
        """Hold nothing more, unless it was asked for since the last call."""
        with self._lock:
            if not self._is_asked:
                self._forget()
            self._is_asked = False

    def _forget(self) -> None:
        kind, shape = self.column.kind.subdtype or (self.column.kind, ())
        self._held, self._extent = GrowingArray(np.empty((0, *shape), kind)), ColumnExtent()


_open: WeakValueDictionary[tuple[Path, int | None], ChunkRows] = WeakValueDictionary()
_opening = threading.Lock()


def rows_of(column: VectorColumn, store: int | None) -> ChunkRows:
    """The rows in a file, the same for all of this process that have opened them; `store` is the inode of the passage
    store, which another index in the same folder does not share."""
    with _opening:
        return _open.setdefault((column.path, store), ChunkRows(column))


def forget_unasked_rows() -> None:
    """Give back the rows that nobody has asked for since the last call."""
    with _opening:
        found = list(_open.values())
    for each in found:
        each.forget_unasked()
