"""Chooses the lines to show: short runs of units around the best ones, without repetition."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agent.dataclass import dataclass
from agent.index.arrays import Batch, Ints
from agent.index.keyword import Weights
from agent.index.signals import Row


@dataclass(frozen=True, slots=True)
class Snippet:
    """Units `first` to `last` (inclusive) of the batch, all of one note; `best` is the one with the highest score."""

    note: int
    first: int
    last: int
    best: int
    score: float


def snippet_ends(batch: Batch, weights: Weights) -> Ints:
    """For a snippet that begins at each unit, the end of its last unit: limited by lines, terms and the note."""
    at = np.arange(batch.units)
    ends = batch.arrays.ends
    begins = np.concatenate(([0], ends[:-1]))
    by_terms = np.searchsorted(ends, begins + weights.window_words, side="right")
    most = np.minimum(np.minimum(at + weights.window_lines, batch.note_ends[batch.unit_note]), by_terms)
    found: Ints = np.maximum(most, at + 1).astype(np.int32)
    return found


def best_snippets(scores: Row, batch: Batch, weights: Weights, count: int) -> list[Snippet]:
    """The best snippets of all notes: at each turn the one with the highest score of units not chosen yet, without
    titles."""
    if not batch.units:
        return []
    ends = snippet_ends(batch, weights)
    left = np.exp(weights.sharpness * (scores - scores.max())) * (batch.arrays.first > 0)
    found: list[Snippet] = []
    while len(found) < count:
        total = np.concatenate(([0.0], np.cumsum(left)))
        mass = total[ends] - total[:-1]
        first = int(mass.argmax())
        if mass[first] <= 0:
            break
        snippet = _trimmed(first, int(ends[first]), float(mass[first]), left, scores, batch, weights)
        left[snippet.first : snippet.last + 1] = 0.0
        found.append(snippet)
    return found


def snippet_of_note(note: int, scores: Row, batch: Batch, weights: Weights, ends: Ints) -> Snippet | None:
    """The best snippet of one note; None for a note without lines."""
    stop = int(batch.note_ends[note])
    start = (int(batch.note_ends[note - 1]) if note else 0) + 1  # after the title, which has no lines
    if start >= stop:
        return None
    part = scores[start:stop]
    best = int(part.argmax())
    if ends[start] == stop:  # the whole note: most memories are a few lines
        return Snippet(note, start, stop - 1, start + best, float(part[best]))
    total = np.cumsum(np.exp(weights.sharpness * (part - part[best])))
    chosen, most = best, -1.0
    earliest = max(best - weights.window_lines + 1, 0)
    for first, end in enumerate((ends[start + earliest : start + best + 1] - start).tolist(), earliest):
        mass = total[end - 1] - (total[first - 1] if first else 0.0)
        if end > best and mass > most:  # the first ones may end before the best line
            chosen, most = first, mass
    return Snippet(note, start + chosen, int(ends[start + chosen]) - 1, start + best, float(part[best]))


def _trimmed(first: int, end: int, mass: float, left: Row, scores: Row, batch: Batch, weights: Weights) -> Snippet:
    """The snippet without units at its ends that were chosen before; its score is a soft maximum of its units'
    scores."""
    inside = np.flatnonzero(left[first:end] > 0)
    best = first + int(np.where(left[first:end] > 0, scores[first:end], -np.inf).argmax())
    score = float(scores.max() + np.log(mass) / weights.sharpness)
    return Snippet(int(batch.unit_note[best]), first + int(inside[0]), first + int(inside[-1]), best, round(score, 6))


def of_one_part(snippet: Snippet, begins: Sequence[int]) -> Snippet:
    """The snippet without the units of other parts than that of its best one; `begins` are the first units of parts."""
    first = max((at for at in begins if at <= snippet.best), default=snippet.first)
    last = min((at - 1 for at in begins if at > snippet.best), default=snippet.last)
    return replace(snippet, first=max(snippet.first, first), last=min(snippet.last, last))
