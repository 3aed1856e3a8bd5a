"""Finds notes near a query's meaning: the nearest chunks of notes by their vectors.

Finds candidates only; `signals` computes their scores from tokens. Up to `exact` chunks are all compared. Of more, the
signs are compared, 40 bytes a chunk, and then the rows of those that are nearest by them (`chunk_rows`). All is held by
its place in the columns, also what was removed since, so that a change costs what it changes. Writing is left to
`vector_writer`.
"""

from dataclasses import replace

import numpy as np

from agent.dataclass import dataclass
from agent.index.arrays import Floats
from agent.index.chunk_rows import ChunkRows, rows_of
from agent.index.files import IndexFiles
from agent.index.growing import GrowingArray
from agent.index.nearest import nearest_notes
from agent.index.signs import Middle, nearest_by_signs, sign_words
from agent.index.vector_files import ColumnExtent, VectorColumns, VectorState, columns_of, parse_state

_ONE_OF = 200
"""One more of so many chunks is compared in full: the more there are, the more are as near by their signs alone."""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The chunks in one state of an index, by their places: the note of each, the checksum of its row, and its signs,
    64 in each array. `gone` are the places of those that were removed."""

    state: VectorState
    notes: GrowingArray
    sums: GrowingArray
    signs: tuple[GrowingArray, ...]
    gone: GrowingArray
    rows: ChunkRows
    limits: tuple[int, int]

    def __len__(self) -> int:
        return self.notes.count - self.gone.count

    @property
    def is_small(self) -> bool:
        """True if all chunks are compared in full."""
        return len(self) <= self.limits[0]

    @property
    def middle(self) -> Middle:
        return np.array(self.state.middle, np.int8)

    @property
    def compared(self) -> int:
        """The least number of chunks that are compared in full, if not all are."""
        return self.limits[1] + len(self) // _ONE_OF

    def search(self, vector: Floats, count: int) -> list[int]:
        """The notes of the nearest chunks, nearest first, at most `count` and those at an equal distance.

        Raises `Damaged` when a row is not the one that was written.
        """
        notes, gone, extent = self.notes.entries, self.gone.entries, self.state.rows
        if self.is_small:
            return nearest_notes(self.rows.hold(extent), notes, vector, count, gone)
        signs = [each.entries for each in self.signs]
        near = nearest_by_signs(signs, self.middle, vector, self.compared, gone)
        return nearest_notes(self.rows.take(near, self.sums.entries[near], extent), notes[near], vector, count)


def load_vectors(
    files: IndexFiles, state: str, dimensions: int, limits: tuple[int, int], held: VectorIndex | None = None
) -> VectorIndex:
    """The chunks of a state, as `VectorWriter.save` returned it; raises `Damaged` when the files are not of it.

    `limits` are the chunks up to which all are compared, and how many are at least of more. Of what an earlier state
    `held`, only what came since is read.
    """
    now = parse_state(state, dimensions)
    columns = columns_of(files.vectors(now.name), dimensions)
    if held is None or not _continues(now, held.state):
        none = GrowingArray(np.zeros(0, np.uint32))
        signs = (GrowingArray(np.zeros(0, np.uint64)),) * sign_words(dimensions)
        rows = rows_of(columns.rows, files.inode())
        nothing = replace(now, heads=ColumnExtent(), rows=ColumnExtent(), gone=ColumnExtent())
        held = VectorIndex(nothing, none, none, signs, none, rows, limits)
    grown = replace(_grown(held, now, columns), limits=limits)
    if grown.is_small:
        grown.rows.hold(now.rows)  # ahead of the search, which has more to wait for
    return grown


def _continues(now: VectorState, then: VectorState) -> bool:
    """True if all that was valid then still is."""
    return now.name == then.name and now.heads.count >= then.heads.count and now.gone.count >= then.gone.count


def _grown(held: VectorIndex, now: VectorState, columns: VectorColumns) -> VectorIndex:
    """What is held, with what came and what was removed since."""
    then = held.state
    heads = tuple(each.with_room(now.heads.count) for each in (held.notes, held.sums, *held.signs))
    for part in columns.heads.read(then.heads, now.heads):
        fields = (part["note"], part["sum"], *part["signs"].T)
        heads = tuple(each.grown(more) for each, more in zip(heads, fields, strict=True))
    notes, sums, *signs = heads
    gone = held.gone.grown(columns.gone.read_all(then.gone, now.gone))
    return VectorIndex(now, notes, sums, tuple(signs), gone, held.rows, held.limits)
