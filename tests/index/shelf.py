"""The vectors of one index, written and read as an update and a search do it."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from agent.index.arrays import Floats
from agent.index.files import IndexFiles
from agent.index.vector import VectorIndex, load_vectors
from agent.index.vector_writer import VectorWriter

ALL = (1_000_000, 2_000)
"""Limits with which every chunk is compared in full."""
DIMENSIONS = 80
"""Not a whole number of words of 64 signs."""
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
    limits: tuple[int, int] = ALL
    writer: VectorWriter = field(init=False)
    reader: VectorIndex | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.writer = VectorWriter(IndexFiles(self.folder), DIMENSIONS, self.limits[0])

    @property
    def data(self) -> Path:
        """The folder that has them now."""
        return IndexFiles(self.folder).vectors(self.writer.state.name)

    def put(self, notes: Sequence[int]) -> None:
        """Each with its row as its only chunk."""
        self.writer.add(notes, [ROWS[note][None] for note in notes])

    def open(self, *, again: bool = False, limits: tuple[int, int] | None = None) -> VectorIndex:
        """The reader, in the state of now; `again` as another search of this process opens it."""
        held = None if again else self.reader
        state = self.writer.save()
        self.reader = load_vectors(IndexFiles(self.folder), state, DIMENSIONS, limits or self.limits, held)
        return self.reader

    def opened_elsewhere(self, copy: Path) -> VectorIndex:
        """The index as a process opens it that has never seen it: from a copy of its folder."""
        shutil.copytree(self.folder, copy)
        return load_vectors(IndexFiles(copy), self.writer.save(), DIMENSIONS, self.limits)


def nearest(notes: Iterable[int], count: int) -> set[int]:
    """The nearest of some notes, by an own comparison of eight bits."""
    known = sorted(notes)
    rows = np.trunc(ROWS[known] * 127)
    near = rows @ np.trunc(question() * 127) / np.linalg.norm(rows, axis=1)
    return {known[at] for at in np.argsort(-near)[:count]}
