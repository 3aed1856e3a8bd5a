"""Combines the signals into one score: each is divided by its best value among the candidates, weighted, and added."""

from collections.abc import Mapping, Sequence

import numpy as np

from agent.dataclass import dataclass
from agent.index.arrays import Batch, Ints
from agent.index.keyword import SIGNALS, SignalWeights, Weights
from agent.index.query import Leg
from agent.index.signals import Row

SURE = {"unit_cosine": 0.35, "hood_cosine": 0.35, "unit_match": 0.6, "hood_match": 0.6}
"""The value below which a similarity is not scaled up to a full share: the best of many unrelated notes is still
unrelated."""
PER_NOTE = frozenset(("note", "title", "date"))


@dataclass(frozen=True, slots=True)
class Fused:
    """The scores of candidates (notes or units), with the raw value and the share of each signal."""

    scores: Row
    raw: Mapping[str, Row]
    shares: Mapping[str, Row]

    def legs(self, chosen: Sequence[int]) -> list[tuple[Leg, ...]]:
        """One leg for each signal of each of these candidates, the largest share first."""
        rows: list[list[Leg]] = [[] for _ in chosen]
        for name, values in self.raw.items():
            ranks = len(values) - np.searchsorted(np.sort(values), values[chosen], side="right") + 1
            columns = (each.tolist() for each in (ranks, values[chosen], self.shares[name][chosen]))
            for row, rank, score, share in zip(rows, *columns, strict=True):
                row.append(Leg(name, rank, round(score, 6), round(share, 6)))
        return [tuple(sorted(row, key=lambda leg: (-leg.share, leg.name))) for row in rows]


def score_notes(raw: Mapping[str, Row], batch: Batch, weights: Weights) -> Fused:
    """The score of each note, from its own signals and, for the others, the best of its units."""
    names = [name for name in SIGNALS if name in raw]
    of_units = [name for name in names if name not in PER_NOTE]
    best = dict(zip(of_units, best_of([raw[name] for name in of_units], batch), strict=True))
    return _fused({name: best[name] if name in best else raw[name] for name in names}, weights.note)


def score_units(raw: Mapping[str, Row], batch: Batch, weights: Weights) -> Fused:
    """The score of each unit, from its own signals and those of its note."""
    per_unit = {name: raw[name][batch.unit_note] if name in PER_NOTE else raw[name] for name in SIGNALS if name in raw}
    return _fused(per_unit, weights.passage)


def best_of(signals: Sequence[Row], batch: Batch) -> Row:
    """For each signal (a row of the result) the largest value among each note's units; 0 for a note without units."""
    best = np.zeros((len(signals), batch.notes))
    starts: Ints = np.concatenate(([0], batch.note_ends[:-1])).astype(np.int32)
    full = np.flatnonzero(batch.note_ends > starts)
    if len(full) and signals:
        best[:, full] = np.maximum.reduceat(np.stack(signals), starts[full], axis=1)
    return best


def _fused(raw: Mapping[str, Row], signals: SignalWeights) -> Fused:
    shares = {name: _shares(values, getattr(signals, name), SURE.get(name, 0.0)) for name, values in raw.items()}
    total = np.sum([*shares.values()], axis=0)
    return Fused(np.round(total, 6), raw, shares)  # rounded: sums in another order must not change the order of hits


def _shares(values: Row, weight: float, sure: float) -> Row:
    if not weight:
        return np.zeros(len(values))
    best = max(float(values.max(initial=0.0)), sure)
    return np.maximum(values, 0.0) * (weight / best) if best > 0 else np.zeros(len(values))
