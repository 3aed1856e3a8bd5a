"""Finds notes near a query's meaning: the nearest chunks of notes by their vectors.

Finds candidates only; `signals` computes their scores from tokens. Up to `exact` chunks are held in memory and all
compared. Of more, only the signs are held, 44 bytes a chunk, and the rows that are nearest by them are read from their
file, each with its checksum. Writing is left to `vector_writer`.
"""

import os
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.arrays import Floats
from agent.index.damage import Damaged
from agent.index.files import IndexFiles
from agent.index.nearest import Signs, SmallRows, nearest_by_signs, nearest_notes, sign_words
from agent.index.vector_files import VectorColumns, VectorState, columns_of, parse_state

_ONE_OF = 330
"""One of so many chunks is compared in full at least: the more there are, the more are as near by their signs alone."""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The chunks in one state of an index. `places` are where they are in the columns, in ascending order; `notes` has
    the note of each, `sums` the checksum of its row. Either `rows` or `signs` has them all, the other one is empty."""

    state: VectorState
    places: NDArray[np.uint32]
    notes: NDArray[np.uint32]
    sums: NDArray[np.uint32]
    signs: Signs
    rows: SmallRows
    shortlist: int
    path: Path

    def __len__(self) -> int:
        return len(self.places)

    @property
    def compared(self) -> int:
        """The least number of chunks that are compared in full, if not all are."""
        return max(self.shortlist, len(self) // _ONE_OF)

    def search(self, vector: Floats, count: int) -> list[int]:
        """The notes of the nearest chunks, nearest first, at most `count` and those at an equal distance.

        Raises `Damaged` when a row is not the one that was written.
        """
        if len(self.rows) == len(self.places):
            return nearest_notes(self.rows, self.notes, vector, count)
        near = nearest_by_signs(self.signs, vector, self.compared)
        return nearest_notes(self._read(near), self.notes[near], vector, count)

    def _read(self, which: NDArray[np.intp]) -> SmallRows:
        """The rows of some chunks, from their file."""
        size = self.state.dimensions
        name = f"{self.path.parent.name}/{self.path.name}"
        try:
            with self.path.open("rb", buffering=0) as file:
                number, read = file.fileno(), os.pread
                starts = self.places[which].astype(np.int64) * size
                found = [read(number, size, start) for start in starts.tolist()]
        except OSError as error:
            raise Damaged("{path} cannot be read: {reason}", path=name, reason=error) from error
        if list(map(crc32, found)) != self.sums[which].tolist():
            raise Damaged("{path} is damaged", path=name)
        return np.frombuffer(b"".join(found), np.int8).reshape(-1, size)


def load_vectors(
    files: IndexFiles, state: str, dimensions: int, limits: tuple[int, int], held: VectorIndex | None = None
) -> VectorIndex:
    """The chunks of a state, as `VectorWriter.save` returned it; raises `Damaged` when the files are not of it.

    `limits` are the chunks up to which all are compared, and the length of the shortlist above. Of what an earlier
    state `held`, only what came since is read.
    """
    exact, shortlist = limits
    now = parse_state(state, dimensions)
    columns = columns_of(files.vectors(now.name), dimensions)
    is_small = now.heads.count - now.gone.count <= exact
    if held is None or not _continues(now, held.state) or is_small != (len(held.rows) == len(held.places)):
        words = np.zeros((sign_words(dimensions), 0), np.uint64)
        empty, nothing = np.zeros(0, np.uint32), np.zeros((0, dimensions), np.int8)
        before = VectorState(now.name, dimensions)
        held = VectorIndex(before, empty, empty, empty, words, nothing, shortlist, columns.rows.path)
    return replace(_grown(held, now, columns, is_small=is_small), shortlist=shortlist)


def _continues(now: VectorState, then: VectorState) -> bool:
    """True if all that was valid then still is."""
    return now.name == then.name and now.heads.count >= then.heads.count and now.gone.count >= then.gone.count


def _grown(held: VectorIndex, now: VectorState, columns: VectorColumns, *, is_small: bool) -> VectorIndex:
    """What is held, with what came since and without what was removed since."""
    then = held.state
    if then == now:
        return held
    heads = [(part["note"], part["sum"], part["signs"].T) for part in columns.heads.read(then.heads, now.heads)]
    notes, sums, signs = zip(*heads, strict=True) if heads else ((), (), ())
    gone = columns.gone.read_all(then.gone, now.gone)
    places = np.concatenate([held.places, np.arange(then.heads.count, now.heads.count, dtype=np.uint32)])
    there = ~np.isin(places, gone)
    rows = np.concatenate([held.rows, *columns.rows.read(then.rows, now.rows)])[there] if is_small else held.rows
    words = held.signs if is_small else np.concatenate([held.signs, *signs], axis=1)[:, there]
    return VectorIndex(
        now,
        places[there],
        np.concatenate([held.notes, *notes])[there],
        np.concatenate([held.sums, *sums])[there],
        np.ascontiguousarray(words),
        rows,
        held.shortlist,
        held.path,
    )
