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
EXACT = 20_000
"""Up to so many chunks every one is compared: 2 ms, and no answer is missed."""


@dataclass(slots=True)
class VectorIndex:
    """Chunks of notes by their vectors, 8 bits a dimension."""

    dimensions: int
    _index: "Index" = field(init=False)
    _held: bytes = field(default=b"", init=False)

    def __post_init__(self) -> None:
        from usearch.index import Index

        self._index = Index(ndim=self.dimensions, metric="cos", dtype="i8", connectivity=12, expansion_add=40)

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
        """The notes of the nearest chunks, the nearest first, `count` at most."""
        size = len(self._index)
        if not size:
            return []
        found = self._index.search(vector, min(size, count * 2), exact=size <= EXACT)
        return list(dict.fromkeys(int(key) // CHUNKS for key in found.keys))[:count]


def check_vectors(path: Path, checksum: str) -> None:
    """Raises `Damaged` when the vectors are not the file that was written."""
    try:
        if str(checksum_of(path)) != checksum:
            raise Damaged(f"{path.name} is damaged")
    except OSError as error:
        raise Damaged(f"{path.name} is missing") from error
