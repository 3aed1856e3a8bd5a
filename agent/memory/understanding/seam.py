"""The seam of language understanding: its questions, and the values that answer them.

`rules` answers without a model, `model` with one. Both promise the same, which `tests/contracts/` checks: texts that
differ in a number or in a "not" are never the same, and a fact quotes a line that stands in its source.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Relation(StrEnum):
    """The relation of a newer text to an older one."""

    SAME = "same"
    ADDS = "adds"
    """All that the older one says, and more."""
    CONTRADICTS = "contradicts"
    """It denies the older one, or gives its subject another value."""
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts to compare. `least` is the share of common words (Jaccard, 0 to 1) from which ADDS may be answered."""

    newer: str
    older: str
    least: float = 0.8


class FactKind(StrEnum):
    """The subject of a fact; each has its section in MEMORY.md."""

    PREFERENCE = "preference"
    DECISION = "decision"
    WORKFLOW = "workflow"
    PERSON = "person"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text to look for facts in. In a `verbatim` one, which was to be remembered as it is, any sentence may be a
    fact that is no question."""

    text: str
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A lasting fact in a text. `text` stands in the line `quote` of the source, word for word."""

    text: str
    kind: FactKind
    quote: str


class Understanding(Protocol):
    """Answers in the order of the questions, one each; raises nothing for any text."""

    def compare(self, pairs: Sequence[Pair]) -> tuple[Relation, ...]:
        """The relation of the newer text of each pair to the older one."""
        ...

    def facts(self, sources: Sequence[SourceText]) -> tuple[tuple[Fact, ...], ...]:
        """The lasting facts that people state in each text, in the text's order."""
        ...
