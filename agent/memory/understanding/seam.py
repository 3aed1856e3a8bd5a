"""The values of language understanding: how two texts are related, and the facts in a text."""

from enum import StrEnum

from agent.dataclass import dataclass


class TextRelation(StrEnum):
    """The relation of a newer text to an older one."""

    SAME = "same"
    ADDS = "adds"
    """Contains all of the older text, and more."""
    CONTRADICTS = "contradicts"
    """Negates the older text, or gives its subject another value."""
    DIFFERENT = "different"


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


WISH = "wish"
"""The kind of an entry that a model has read as a standing wish, on how an assistant is to answer or work."""


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
