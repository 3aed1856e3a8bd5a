"""Searches in very many chunk vectors: time, memory, disk, and how much of what is nearest is found with 8 bits.

The vectors are those of this repository's own texts: runs of lines from its Markdown files, often from two of them.
Every 15th line is a question and stands in none of the vectors: a line that stands in some is nearest to these, and of
such ones nothing was ever missed.
"""

import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.benches.figures import Figure, Measure, middle_and_tail
from agent.errors import Permanent
from agent.index.arrays import Floats
from agent.index.embedder import Embedder, choose_embedder
from agent.index.files import IndexFiles
from agent.index.vector_writer import VectorWriter
from agent.index.vectors import VectorIndex, load_vector_files

ROOT = Path(__file__).parents[2]
CHUNKS_OF_A_NOTE = 3
RECALL = 0.97
SEARCH_MS = 25.0
"""For a million chunks; a search has the keyword engine and the scores besides."""
_QUESTIONS = 100
_HELD_OUT = 15
"""One of so many lines is a question."""
_SAVES = 20
_NEAREST = 10
_TOGETHER = 3_000
_LINES = 8
"""The most lines of a chunk."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The summed vectors of the lines of this repository's Markdown files, and the sums of all before each of them;
    `asked` are the vectors of the lines that were held out, of length 1."""

    sums: Floats
    before: NDArray[np.float64]
    asked: Floats

    def runs(self, count: int, seed: int) -> Floats:
        """So many chunk vectors of length 1: each of one to three runs of lines."""
        chance = np.random.default_rng(seed)
        starts = chance.integers(len(self.sums), size=(3, count))
        ends = np.minimum(starts + chance.integers(2, _LINES + 1, size=(3, count)), len(self.sums))
        is_used = chance.integers(1, 4, size=count) > np.arange(3)[:, None]
        rows = ((self.before[ends] - self.before[starts]) * is_used[:, :, None]).sum(axis=0)
        return _of_length_one(rows.astype(np.float32))


def measure(folder: Path, chunks: int, say: Callable[[str], None]) -> list[Measure]:
    """Figures of one index of so many chunks."""
    model = choose_embedder("").embedder
    if model is None:
        raise Permanent("there is no embedding model")
    lines = load_lines(model)
    files, writer = IndexFiles(folder), VectorWriter(IndexFiles(folder), model.dimensions)
    say(f"writing {chunks} chunk vectors")
    started = time.process_time()
    for at, rows in enumerate(_batches(lines, chunks)):
        notes = range(at * _TOGETHER // CHUNKS_OF_A_NOTE, at * _TOGETHER // CHUNKS_OF_A_NOTE + -(-len(rows) // 3))
        writer.add(notes, [rows[each : each + 3] for each in range(0, len(rows), 3)])
    state, written = writer.save(), time.process_time() - started
    size = sum(files.vectors(name).stat().st_size for name in writer.state.names) / 1e6
    started = time.process_time()
    index = load_vector_files(files, state, model.dimensions)
    loaded = time.process_time() - started
    asked = lines.asked[:: max(len(lines.asked) // _QUESTIONS, 1)][:_QUESTIONS]
    say("searches")
    times = Figure(f"nearest of {chunks} chunks (processor time)", tuple(_search(index, each) for each in asked))
    say("recall")
    share = recall(index, asked, lines, chunks)
    say("saves")
    saves = Figure("one note's chunks saved and read again", tuple(_saves(files, writer, index, lines)))
    return [
        Measure(f"{chunks} chunks: made and written", written, "s"),
        Measure("opened (processor time)", loaded, "s"),
        Measure("on disk", size, "MB"),
        Measure("most memory of this process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, "MB"),
        *middle_and_tail(times, SEARCH_MS),
        *middle_and_tail(saves, None),
        Measure("recall of the 10 nearest", share, "", RECALL, at_least=True),
    ]


def load_lines(model: Embedder) -> Lines:
    """The lines of at least four words of the repository's Markdown files."""
    texts = [
        line
        for path in sorted(ROOT.rglob("*.md"))
        if not any(part.startswith(".") or part == "node_modules" for part in path.relative_to(ROOT).parts[:-1])
        for line in path.read_text("utf-8", "replace").splitlines()
        if len(line.split()) >= 4
    ]
    sums = np.array([model.vectors(each).sum(axis=0) for each in model.tokens(texts)], np.float32)
    is_asked = np.arange(len(sums)) % _HELD_OUT == _HELD_OUT - 1
    kept = sums[~is_asked]
    before = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(kept, axis=0, dtype=np.float64)])
    return Lines(kept, before, _of_length_one(sums[is_asked]))


def recall(index: VectorIndex, asked: Floats, lines: Lines, chunks: int) -> float:
    """The share of the 10 nearest chunks, by whole numbers of 32 bits, whose notes are found."""
    near = np.concatenate([asked @ rows.T for rows in _batches(lines, chunks)], axis=1)
    shares = []
    for question, nearness in zip(asked, near, strict=True):
        wanted = {int(chunk) // CHUNKS_OF_A_NOTE for chunk in np.argsort(-nearness)[:_NEAREST]}
        shares.append(len(wanted & set(index.search(question, _NEAREST))) / len(wanted))
    return float(np.mean(shares))


def _batches(lines: Lines, chunks: int) -> Iterator[Floats]:
    for start in range(0, chunks, _TOGETHER):
        yield lines.runs(min(_TOGETHER, chunks - start), start)


def _search(index: VectorIndex, question: Floats) -> float:
    """Milliseconds of processor time."""
    started = time.process_time()
    index.search(question, 20)
    return (time.process_time() - started) * 1000


def _saves(files: IndexFiles, writer: VectorWriter, index: VectorIndex, lines: Lines) -> Iterator[float]:
    for number in range(_SAVES):
        rows = lines.runs(CHUNKS_OF_A_NOTE, 10**9 + number)
        started = time.process_time()
        writer.remove([number])
        writer.add([number], [rows])
        index = load_vector_files(files, writer.save(), writer.dimensions, index)
        yield (time.process_time() - started) * 1000


def _of_length_one(rows: Floats) -> Floats:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    return unit
