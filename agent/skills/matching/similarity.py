"""The semantic similarity of a task and the conditions of learned skills.

The cosine of a good match differs between models, and that of the included models is far below the thresholds. So each
model's cosines are mapped to the thresholds' scale by two figures, measured on examples in the tests.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.index.embedder import Embedder
from agent.skills.reading.skill import Skill

AT_REFERENCE, AT_SEMANTIC = 0.6, 0.8
_LONGEST = 2_000
"""The most characters of a task that are compared."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The cosine that counts as 0.6 and the one that counts as 0.8."""

    reference: float
    semantic: float

    def scaled(self, cosine: float) -> float:
        """A cosine on the common scale, 0 to 1; never decreasing."""
        points = ((0.0, 0.0), (self.reference, AT_REFERENCE), (self.semantic, AT_SEMANTIC), (1.0, 1.0))
        for (low, from_), (high, to) in zip(points, points[1:], strict=False):
            if cosine <= high:
                return from_ + (to - from_) * max(cosine - low, 0.0) / (high - low)
        return 1.0


CALIBRATIONS: Mapping[str, Calibration] = {"wordllama": Calibration(0.57, 0.70)}
"""By the prefix of an embedder's name."""
OTHERWISE = Calibration(0.6, 0.8)
"""For models that were never measured."""


def calibration(name: str) -> Calibration:
    """The calibration of the embedder with this name."""
    return next((found for start, found in CALIBRATIONS.items() if name.startswith(start)), OTHERWISE)


@dataclass(slots=True)
class Similarity:
    """Compares tasks with conditions; caches the conditions' vectors."""

    embedder: Embedder
    _known: dict[str, list[float]] = field(default_factory=dict)

    def near(self, task: str, skills: Iterable[Skill]) -> dict[str, float]:
        """The similarity of the nearest condition of each skill with conditions, by key, 0 to 1."""
        told = [skill for skill in skills if skill.conditions]
        if not told:
            return {}
        (wanted,) = self._vectors([task[:_LONGEST]])
        scale = calibration(self.embedder.name)
        missing = [text for skill in told for text in skill.conditions if text not in self._known]
        self._known |= dict(zip(missing, self._vectors(missing), strict=True))
        return {
            skill.key: scale.scaled(max(_dot(wanted, self._known[text]) for text in skill.conditions)) for skill in told
        }

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """Unit vectors; zeros for a text without tokens."""
        import numpy as np

        found = []
        for tokens in self.embedder.tokens(texts) if texts else []:
            row = self.embedder.vectors(tokens).sum(axis=0) if len(tokens) else np.zeros(self.embedder.dimensions)
            found.append([float(value) for value in row / max(float(np.linalg.norm(row)), 1e-9)])
        return found


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
