"""The similarity of a task and the conditions of learned skills, or the description of a skill that says nothing else.

The cosine of a good match differs between models and languages, and that of the included models is far below the
thresholds. So each model's cosines are mapped to the thresholds' scale by two figures a script, measured on examples in
the tests.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.index.embedder import Embedder
from agent.skills.matching.skill_text import use_when
from agent.skills.reading.skill import Skill

AT_REFERENCE, AT_SEMANTIC = 0.6, 0.8
_DESCRIBED = 1.2
"""What the similarity to a description and the share of its words in a task have in sum, of 2, for a perfect match. Set
on eight skills with 15 tasks for them and 14 for none: 14 of the 15 are offered, and 1 of the 14."""
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


Compared: TypeAlias = Literal["latin", "han", "description"]
CALIBRATIONS: Mapping[str, Mapping[Compared, Calibration]] = {
    "wordllama": {
        "latin": Calibration(0.34, 0.6),
        "han": Calibration(0.6, 0.75),
        "description": Calibration(0.57, 0.70),
    }
}
"""By the prefix of an embedder's name and what is compared: conditions, in the script of the task, and descriptions,
whose words count besides. The vectors that ship know words in English and characters in Chinese, of which all texts
have many in common: unrelated texts reach .3 in the one and .57 in the other, where a task in other words reaches .34
and .6."""
OTHERWISE = Calibration(0.6, 0.8)
"""For models that were never measured."""
_HAN = re.compile(r"[\u3400-\u9fff]")


def calibration(name: str, compared: Compared) -> Calibration:
    """The calibration of the embedder with this name."""
    return next((found[compared] for start, found in CALIBRATIONS.items() if name.startswith(start)), OTHERWISE)


@dataclass(slots=True)
class Similarity:
    """Compares tasks with conditions and descriptions; caches their vectors."""

    embedder: Embedder
    _known: dict[str, list[float]] = field(default_factory=dict)

    def near(self, task: str, skills: Sequence[Skill]) -> dict[str, float]:
        """The similarity of the nearest condition of each skill with conditions, and of the description of each without
        triggers, by key, 0 to 1."""
        texts = {skill.key: _texts_of(skill) for skill in skills}
        texts_by_key = {key: each for key, each in texts.items() if each}
        if not texts_by_key:
            return {}
        (wanted,) = self._vectors([task[:_LONGEST]])
        missing = [text for each in texts_by_key.values() for text in each if text not in self._known]
        self._known |= dict(zip(missing, self._vectors(missing), strict=True))
        nearest = {key: max(_dot(wanted, self._known[text]) for text in each) for key, each in texts_by_key.items()}
        scale = calibration(self.embedder.name, "han" if _HAN.search(task) else "latin")
        described, words = calibration(self.embedder.name, "description"), frozenset(terms(task[:_LONGEST]))
        found = {key: scale.scaled(cosine) for key, cosine in nearest.items()}
        for skill in skills:
            if not skill.has_triggers and skill.key in found:
                scaled = described.scaled(nearest[skill.key])
                share = len(words & frozenset(terms(skill.description))) / max(len(words), 1)
                found[skill.key] = min((scaled + share) / _DESCRIBED, 1.0)
        return found

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """Unit vectors; zeros for a text without tokens."""
        import numpy as np

        found = []
        for tokens in self.embedder.tokens(texts) if texts else []:
            row = self.embedder.vectors(tokens).sum(axis=0) if len(tokens) else np.zeros(self.embedder.dimensions)
            found.append([float(value) for value in row / max(float(np.linalg.norm(row)), 1e-9)])
        return found


def _texts_of(skill: Skill) -> tuple[str, ...]:
    """The texts that a task is compared with."""
    if skill.has_triggers:
        return skill.conditions
    return tuple(filter(None, (skill.summary, use_when(skill.summary))))


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
