"""What each candidate says to a question, as numbers: words and meaning, of notes, lines and their neighbourhood.

`note`, `unit` and `hood` are BM25 over the note with its fields, over a line, and over a line with two on each side;
`title` is what the fields alone say: title, aliases, headings, tags, folders, links.
`unit_cosine` and `hood_cosine` compare the summed vectors. `unit_match` and `hood_match` ask for each token of the
question how near the nearest token is (late interaction, as in ColBERT, squared). `date` is how near the note's day is.
What they are worth is left to `fusion`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.index.embedder import Embedder
from agent.index.packed import HOOD, Batch, Floats, Ints, distinct
from agent.index.weights import Weights

Row = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of the whole vault: how many notes and units, and how long they are on average, in terms."""

    notes: int
    units: int
    note_length: float
    unit_length: float
    hood_length: float
    frequency: Mapping[int, tuple[int, int]]
    """For each term asked for, in how many notes and in how many units it stands."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as numbers: its terms, and its tokens with their weighted vectors (none without an embedder)."""

    terms: Sequence[int]
    vectors: Floats

    @property
    def vector(self) -> Floats:
        """The question's own vector, of length 1, or zeros."""
        total: Floats = self.vectors.sum(axis=0)
        norm = float(np.linalg.norm(total))
        return total / np.float32(norm) if norm else total


def ask(text: str, terms: Sequence[int], embedder: Embedder | None) -> Asked:
    """The question as numbers."""
    if embedder is None:
        return Asked(terms, np.zeros((0, 0), np.float32))
    return Asked(terms, embedder.vectors(embedder.tokens([text])[0]))


def of_words(asked: Asked, batch: Batch, statistics: Statistics, weights: Weights) -> dict[str, Row]:
    """`note` and `title` for each note, `unit` and `hood` for each unit."""
    units, packed = batch.units, batch.packed
    lengths = np.diff(packed.ends, prepend=0).astype(np.float64)
    low, high = _hoods(batch)
    hood_lengths = _over_hoods(lengths, low, high)
    note_lengths = np.bincount(batch.unit_note, lengths, batch.notes)
    scores = {
        "note": np.zeros(batch.notes),
        "title": np.zeros(batch.notes),
        "unit": np.zeros(units),
        "hood": np.zeros(units),
    }
    for term in asked.terms:
        in_notes, in_units = statistics.frequency.get(term, (0, 0))
        here = np.flatnonzero(packed.terms == np.uint32(term))
        at = np.searchsorted(packed.ends, here, side="right")
        count = np.bincount(at, minlength=units).astype(np.float64)
        beside = packed.extra == np.uint32(term)
        extra = np.bincount(batch.extra_note[beside], packed.extra_weights[beside], batch.notes)
        whole = np.bincount(batch.unit_note, count, batch.notes) + extra
        note_idf, unit_idf = _idf(statistics.notes, in_notes), _idf(statistics.units, in_units)
        around = _over_hoods(count, low, high)
        scores["note"] += note_idf * _saturated(
            whole.astype(np.float64), note_lengths.astype(np.float64), statistics.note_length, weights
        )
        scores["title"] += note_idf * extra / (extra + weights.k1)
        scores["unit"] += unit_idf * _saturated(count, lengths, statistics.unit_length, weights)
        scores["hood"] += note_idf * _saturated(around, hood_lengths, statistics.hood_length, weights)
    return scores


def of_meaning(asked: Asked, batch: Batch, embedder: Embedder) -> dict[str, Row]:
    """`unit_cosine`, `hood_cosine`, `unit_match` and `hood_match` for each unit."""
    packed, units = batch.packed, batch.units
    names = ("unit_cosine", "hood_cosine", "unit_match", "hood_match")
    if not len(packed.tokens) or not len(asked.vectors):
        return {name: np.zeros(units) for name in names}
    tokens, place = distinct(packed.tokens)
    rows = embedder.vectors(tokens)
    along = rows @ asked.vector
    lengths = np.linalg.norm(rows, axis=1)
    weight = np.linalg.norm(asked.vectors, axis=1)
    near = (rows / np.maximum(lengths, 1e-9)[:, None]) @ (asked.vectors / np.maximum(weight, 1e-9)[:, None]).T
    near = np.square(np.maximum(near, 0.0))
    full, starts = _full_units(packed.token_ends)
    dots = np.zeros(units)
    dots[full] = np.add.reduceat(along[place].astype(np.float64), starts)
    best = np.zeros((units, near.shape[1]), np.float32)
    best[full] = np.maximum.reduceat(near[place], starts, axis=0)
    low, high = _hoods(batch)
    at = np.arange(units)
    around = best
    for step in range(1, HOOD + 1):
        around = np.maximum(around, np.maximum(best[np.maximum(at - step, low)], best[np.minimum(at + step, high - 1)]))
    share = weight / max(float(weight.sum()), 1e-9)
    return {
        "unit_cosine": dots / np.maximum(packed.norms, 1e-9),
        "hood_cosine": _over_hoods(dots, low, high) / np.maximum(packed.hood_norms, 1e-9),
        "unit_match": (best @ share).astype(np.float64),
        "hood_match": (around @ share).astype(np.float64),
    }


def _idf(total: int, having: int) -> float:
    """The inverse document frequency of Lucene's BM25: never negative."""
    return float(np.log1p((total - having + 0.5) / (having + 0.5)))


def _saturated(count: Row, length: Row, average: float, weights: Weights) -> Row:
    k1, b = weights.k1, weights.b
    saturated: Row = count * (k1 + 1) / (count + k1 * (1 - b + b * length / max(average, 1e-9)))
    return saturated


def _hoods(batch: Batch) -> tuple[Ints, Ints]:
    """As `packed.hood`, for all notes of the batch."""
    at = np.arange(batch.units, dtype=np.int32)
    ends = batch.note_ends[batch.unit_note]
    begins = np.concatenate(([0], batch.note_ends[:-1]))[batch.unit_note].astype(np.int32)
    return np.maximum(at - HOOD, begins), np.minimum(at + HOOD + 1, ends)


def _over_hoods(values: NDArray[np.generic], low: Ints, high: Ints) -> Row:
    total = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    sums: Row = total[high] - total[low]
    return sums


def _full_units(ends: Ints) -> tuple[Ints, Ints]:
    """The units that have tokens, and where each begins."""
    starts = np.concatenate(([0], ends[:-1])).astype(np.int32)
    full = np.flatnonzero(ends > starts).astype(np.int32)
    return full, starts[full]
