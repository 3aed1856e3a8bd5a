"""The vectors of one index, written and read as an update and a search do it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from agent.index.arrays import Floats
from agent.index.files import IndexFiles
from agent.index.vector_writer import VectorWriter
from agent.index.vectors import VectorIndex, load_vector_files

DIMENSIONS = 80
CHANCE = np.random.default_rng(5)
KINDS = CHANCE.standard_normal((12, DIMENSIONS)).astype(np.float32)
ROWS = CHANCE.standard_normal((3000, DIMENSIONS)).astype(np.float32)
for each in (KINDS, ROWS):
    each /= np.linalg.norm(each, axis=1, keepdims=True)


def question(near: float = 0.5) -> Floats:
    asked: Floats = ROWS[0] + near * ROWS[1]
    return asked / np.float32(np.linalg.norm(asked))


@dataclass
class Shelf:
    """The vectors of one index: its writer, and a reader that stays open."""

    folder: Path
    writer: VectorWriter = field(init=False)
    reader: VectorIndex | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.writer = VectorWriter(IndexFiles(self.folder), DIMENSIONS)

    def put(self, notes: Sequence[int]) -> None:
        """Each with its row as its only chunk."""
        self.writer.add(notes, [ROWS[note][None] for note in notes])

    def open(self, *, again: bool = False) -> VectorIndex:
        """The reader, in the state of now; `again` as another search of this process opens it."""
        held = None if again else self.reader
        self.reader = load_vector_files(IndexFiles(self.folder), self.writer.save(), DIMENSIONS, held)
        return self.reader

    def file(self, part: str) -> Path:
        """The file `base` or `recent` of the last state."""
        written = getattr(self.writer.state, part)
        assert written is not None
        return IndexFiles(self.folder).vectors(written.name)


def nearest(notes: Iterable[int], count: int) -> set[int]:
    """The nearest of some notes, by an own comparison of eight bits."""
    known = sorted(notes)
    rows, asked = eight_bits(ROWS[known]), eight_bits(question()[None])[0]
    near = rows @ asked / np.linalg.norm(rows, axis=1)
    return {known[at] for at in np.argsort(-near)[:count]}


def eight_bits(rows: Floats) -> Floats:
    return np.rint(rows * (127 / np.abs(rows).max(axis=1, keepdims=True))) if len(rows) else rows
