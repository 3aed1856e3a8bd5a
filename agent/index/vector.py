"""Finds notes near a query's meaning: nearest neighbours over chunks of notes, on usearch.

Finds candidates only; `signals` computes their scores from tokens. Small indexes are searched exactly, so that an
updated index gives the same answers as one built at once. A graph is built only for a larger index.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from agent.config.private import write
from agent.index.arrays import Floats
from agent.index.damage import Damaged
from agent.index.weights import EXACT_CHUNKS

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from usearch.index import Index

CHUNKS = 1 << 12
"""The most chunks of one note; a key is the note's number times this plus the chunk's."""
_GRAPH = (12, 40)
"""A graph's links for each chunk, and the chunks compared to choose them: 3 s of work for 30,000 chunks."""
_NO_GRAPH = (2, 1)
"""The minimum that usearch accepts, for exact search: 0.05 s for 30,000, and a fifth less on disk."""
_LOOKED_AT = 256
"""Candidate chunks that a graph search keeps: 1 ms at 300,000 and half of the nearest 20 notes; with 64 a third."""
_FEW = 1_000
"""Chunks that one thread links."""
_TIED = 8
"""Factor on the number of notes, for notes that are equally near; more of them are copies of one template."""


@dataclass(slots=True)
class VectorIndex:
    """Chunks of notes by their vectors, 8 bits per dimension; up to `exact` of them, every one is compared."""

    dimensions: int
    exact: int = EXACT_CHUNKS
    _index: "Index" = field(init=False)
    _held: bytes = field(default=b"", init=False)

    def __post_init__(self) -> None:
        self._index = _empty(self.dimensions, _NO_GRAPH)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def has_graph(self) -> bool:
        """True if the graph has enough links for a search."""
        return self._index.connectivity >= _GRAPH[0]

    def load(self, path: Path, checksum: str, *, view: bool) -> None:
        """Load a saved index, with `view` for searching only; raises `Damaged` when it is not the saved file.

        The file is read and not mapped: truncating a mapped file kills the process.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise Damaged("{path} is missing", path=path.name) from error
        if str(crc32(data)) != checksum:
            raise Damaged("{path} is damaged", path=path.name)
        try:
            if view:
                self._held = data
                self._index.view(data)
            else:
                self._index.load(data)
        except (RuntimeError, ValueError) as error:
            raise Damaged("{path} cannot be read: {reason}", path=path.name, reason=error) from error
        if self.has_graph:
            self._index.expansion_add = _GRAPH[1]  # type: ignore[misc]  # it can be set, and no file says what it was
        if self._index.ndim != self.dimensions:
            raise Damaged(
                "{path} has {found} dimensions instead of {dimensions}",
                path=path.name,
                found=self._index.ndim,
                dimensions=self.dimensions,
            )

    def save(self, path: Path) -> str:
        """Write the index to a file; returns its checksum for `load`.

        Written from memory: usearch itself writes in small pieces, which takes twice as long.
        """
        data = self._index.save()
        assert data is not None  # since no file was named
        write(path, data)
        return str(crc32(data))

    def add(self, notes: Sequence[int], vectors: Sequence[Floats]) -> None:
        """Add the chunk vectors of notes that are not in the index."""
        keys = [note * CHUNKS + at for note, rows in zip(notes, vectors, strict=True) for at in range(len(rows))]
        if keys:
            _add(self._index, np.array(keys, dtype=np.uint64), np.concatenate([*vectors]))
            self._fit()

    def _fit(self) -> None:
        """Build the graph above the limit, and drop it far below, from the stored vectors.

        In the quarter below the limit nothing changes: else adding and removing notes there would rebuild the graph
        each time.
        """
        size, graph = len(self._index), self.has_graph
        if graph == (size > (self.exact * 3 // 4 if graph else self.exact)):
            return
        keys = np.asarray(self._index.keys[:size])
        vectors = np.array(self._index.get(keys, dtype="i8"))
        self._index = _empty(self.dimensions, _NO_GRAPH if graph else _GRAPH)
        _add(self._index, keys, vectors)

    def remove(self, notes: Iterable[int]) -> None:
        """Remove notes, whether indexed or not."""
        gone = []
        for note in notes:
            at = 0
            while at < CHUNKS and note * CHUNKS + at in self._index:
                gone.append(note * CHUNKS + at)
                at += 1
        if gone:
            self._index.remove(np.array(gone, dtype=np.uint64))

    def search(self, vector: Floats, count: int) -> list[int]:
        """The notes of the nearest chunks, nearest first, at most `count`; in a small index also those at an equal
        distance.

        Notes at an equal distance are in the order of their numbers, which differ between two builds: all or none must
        be found.
        """
        size, asked = len(self._index), count * 2
        notes, last = self._nearest(vector, min(size, asked))
        if not self._compares_all or not notes:
            return [*notes][:count]
        furthest = [*notes.values()][:count][-1]
        while last <= furthest and asked < min(size, count * 2 * _TIED):
            asked *= 4
            notes, last = self._nearest(vector, min(size, asked))
        return [note for note, distance in notes.items() if distance <= furthest][: count * _TIED]

    @property
    def _compares_all(self) -> bool:
        return not self.has_graph or len(self._index) <= self.exact

    def _nearest(self, vector: Floats, chunks: int) -> tuple[dict[int, float], float]:
        """The notes of the nearest `chunks` chunks with their distances, nearest first, and the distance of the last
        chunk."""
        if not chunks:
            return {}, 0.0
        found = self._index.search(vector, chunks, exact=self._compares_all, threads=1)
        nearest: dict[int, float] = {}
        for key, distance in zip(found.keys.tolist(), found.distances.tolist(), strict=True):
            nearest.setdefault(key // CHUNKS, distance)
        return nearest, found.distances[-1].item()


def _add(index: "Index", keys: "NDArray[np.uint64]", vectors: "NDArray[Any]") -> None:
    """Add chunks, the first ones of an index one at a time: parallel threads do not see each other's chunks, and a
    small graph would not be connected."""
    first = max(_FEW - len(index), 0)
    if first:
        index.add(keys[:first], vectors[:first], threads=1)
    if len(keys) > first:
        index.add(keys[first:], vectors[first:])


def _empty(dimensions: int, links: tuple[int, int]) -> "Index":
    from usearch.index import Index

    connectivity, looked_at = links
    return Index(
        ndim=dimensions,
        metric="cos",
        dtype="i8",
        connectivity=connectivity,
        expansion_add=looked_at,
        expansion_search=_LOOKED_AT,
    )
