"""The interface of language understanding: its questions and answers.

`rules` answers without a model, `model` with one. `tests/contracts/` checks both: texts that differ in a number or in a
"not" are never the same, and a fact quotes a line of its source.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from agent.dataclass import dataclass


class TextRelation(StrEnum):
    """The relation of a newer text to an older one."""

    SAME = "same"
    ADDS = "adds"
    """Contains all of the older text, and more."""
    CONTRADICTS = "contradicts"
    """Negates the older text, or gives its subject another value."""
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts to compare. `least` is the share of common words (Jaccard, 0 to 1) required for ADDS."""

    newer: str
    older: str
    least: float = 0.8


class FactKind(StrEnum):
    """The subject of a fact; each but EVENT comes into MEMORY.md, in a section of its own, in this order."""

    SELF = "self"
    """Who the person is: name, work, home."""
    HEALTH = "health"
    PERSON = "person"
    PREFERENCE = "preference"
    DECISION = "decision"
    WORKFLOW = "workflow"
    EVENT = "event"
    """What happened on one day: kept with its day, and neither a lasting fact nor the same as on another day."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text to find facts in. In a `verbatim` one, stored at a person's request, any sentence but a question may be a
    fact."""

    text: str
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A lasting fact in a text. `text` is a literal part of the line `quote` of the source."""

    text: str
    kind: FactKind
    quote: str


class Understanding(Protocol):
    """Answers questions in their order, one answer each; raises nothing for any text."""

    def compare(self, pairs: Sequence[Pair]) -> tuple[TextRelation, ...]:
        """The relation of the newer text of each pair to the older one."""
        ...

    def facts(self, sources: Sequence[SourceText]) -> tuple[tuple[Fact, ...], ...]:
        """The lasting facts that people state in each text, in the order of the text."""
        ...
