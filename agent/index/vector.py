"""Which notes mean something like the question: nearest neighbours over chunks of notes, on usearch.

Finds candidates only; what they score is computed from tokens by `signals`. Small indexes are searched exactly, so that
an index that grew by updates answers just as one built at once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agent.errors import Permanent
from agent.index.packed import Floats
from agent.index.seal import Damaged, checksum_of

if TYPE_CHECKING:
    from usearch.index import Index

CHUNKS = 1 << 12
"""The most chunks of one note; a key is the note's number times this plus the chunk's."""
EXACT = 100_000
"""Up to so many chunks (33,000 notes of 130 words) every one is compared: 2.3 ms, and no answer is missed."""
_LOOKED_AT = 256
"""Chunks that a search of more keeps in view: 1 ms at 300,000 and half of the nearest 20 notes; with 64 a third."""
_TIED = 8
"""Of notes that are equally near, so many times as many as asked for are found; more are copies of one template."""


@dataclass(slots=True)
class VectorIndex:
    """Chunks of notes by their vectors, 8 bits a dimension."""

    dimensions: int
    _index: "Index" = field(init=False)
    _held: bytes = field(default=b"", init=False)

    def __post_init__(self) -> None:
        from usearch.index import Index

        self._index = Index(
            ndim=self.dimensions,
            metric="cos",
            dtype="i8",
            connectivity=12,
            expansion_add=40,
            expansion_search=_LOOKED_AT,
        )

    def __len__(self) -> int:
        return len(self._index)

    def load(self, path: Path, *, view: bool) -> None:
        """Read a saved index, with `view` to search only; raises `Permanent` when the file is not one.

        It is read and not mapped: a mapped file that something cuts short kills the process.
        """
        try:
            if view:
                self._held = path.read_bytes()
                self._index.view(self._held)
            else:
                self._index.load(str(path))
        except (RuntimeError, ValueError, OSError) as error:
            raise Permanent(f"{path.name} is damaged: {error}") from error
        if self._index.ndim != self.dimensions:
            raise Permanent(f"{path.name} has {self._index.ndim} dimensions instead of {self.dimensions}")

    def save(self, path: Path) -> None:
        self._index.save(str(path))

    def add(self, notes: Sequence[int], vectors: Sequence[Floats]) -> None:
        """Chunk vectors of some notes that are not in the index."""
        keys = [note * CHUNKS + at for note, rows in zip(notes, vectors, strict=True) for at in range(len(rows))]
        if keys:
            self._index.add(np.array(keys, dtype=np.uint64), np.concatenate([*vectors]))

    def remove(self, notes: Iterable[int]) -> None:
        """Forget some notes, whether or not they are there."""
        gone = []
        for note in notes:
            at = 0
            while at < CHUNKS and note * CHUNKS + at in self._index:
                gone.append(note * CHUNKS + at)
                at += 1
        if gone:
            self._index.remove(np.array(gone, dtype=np.uint64))

    def search(self, vector: Floats, count: int) -> list[int]:
        """The notes of the nearest chunks, nearest first, `count` at most; in a small index also those just as near.

        Equal notes come in the order of their numbers, which two builds give differently: all or none must be found.
        """
        size, asked = len(self._index), count * 2
        notes, last = self._nearest(vector, min(size, asked))
        if size > EXACT or not notes:
            return [*notes][:count]
        furthest = [*notes.values()][:count][-1]
        while last <= furthest and asked < min(size, count * 2 * _TIED):
            asked *= 4
            notes, last = self._nearest(vector, min(size, asked))
        return [note for note, distance in notes.items() if distance <= furthest][: count * _TIED]

    def _nearest(self, vector: Floats, chunks: int) -> tuple[dict[int, float], float]:
        """How far the notes of so many chunks are, the nearest first, and how far the last chunk is."""
        if not chunks:
            return {}, 0.0
        found = self._index.search(vector, chunks, exact=len(self._index) <= EXACT, threads=1)
        nearest: dict[int, float] = {}
        for key, distance in zip(found.keys.tolist(), found.distances.tolist(), strict=True):
            nearest.setdefault(key // CHUNKS, distance)
        return nearest, found.distances[-1].item()


def check_vectors(path: Path, checksum: str) -> None:
    """Raises `Damaged` when the vectors are not the file that was written."""
    try:
        if str(checksum_of(path)) != checksum:
            raise Damaged(f"{path.name} is damaged")
    except OSError as error:
        raise Damaged(f"{path.name} is missing") from error
