"""A signal: one thing that the person said or did which shows a preference, with the note that has it. Plain data."""

import re
from datetime import date
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.memory.edits.lesson import EditLesson
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.owner import TaskKind
from agent.texts import Language, text

SignKind: TypeAlias = Literal["answered", "stated", "edited", "requested", "chosen", "followed_up"]
"""How it was shown: by the answer to a question which of two holds, in words, by a change of the agent's text, by a
request to change it ("shorter, please"), by a choice among options, by a question about an answer. Silence is counted,
and is no signal."""
DimensionKind: TypeAlias = Literal[
    "style", "correction", "practice", "rather", "taste", "favourite", "choice", "follow_up"
]
OPTIONS = " | "
"""Between the options of a choice, in the topic of its dimension."""
_ID = 8
_UNSAFE = re.compile(r"\s*·\s*")


@dataclass(frozen=True, slots=True)
class Dimension:
    """What a preference is about, and of which only one value holds: the length of texts (`style`, `length`), one of
    two names (`correction`), something to be done or left out (`practice`), the better of two (`rather`), liking
    (`taste`), a favourite, the options of a choice, a subject that is asked on about (`follow_up`)."""

    kind: DimensionKind
    topic: str

    @property
    def key(self) -> tuple[str, str]:
        """The same for the same dimension, however it is written."""
        return self.kind, " ".join(self.topic.casefold().split())

    @property
    def id(self) -> str:
        """The end of the block of its belief in a note."""
        return sha256("\n".join(self.key).encode("utf-8", "surrogateescape")).hexdigest()[:_ID]

    @property
    def is_of_style(self) -> bool:
        """True if it steers how every text is written, and not only those on its subject."""
        return self.kind == "style"


@dataclass(frozen=True, slots=True)
class Sign:
    """One piece of evidence for a value of a dimension. `evidence` has a quotation only where the note has these very
    words of the person; `shown` is what else there is to see. `tasks` are the kinds of texts that it is about; empty:
    all of them."""

    kind: SignKind
    dimension: Dimension
    value: str
    day: date
    evidence: Evidence
    excerpt: str = ""
    tasks: frozenset[TaskKind] = frozenset()

    @property
    def plain_value(self) -> str:
        """The value for comparison."""
        return self.value.casefold()


def without_separator(words: str) -> str:
    """The words on one line without the sign that parts the fields of a line."""
    return _UNSAFE.sub(" - ", " ".join(words.split()))


def of_lesson(lesson: EditLesson) -> tuple[Dimension, str]:
    """The dimension and the value that a lesson from an edit is about."""
    match lesson.kind:
        case "style":
            return Dimension("style", lesson.topic), lesson.value
        case "correction":
            pair = OPTIONS.join(sorted((without_separator(lesson.topic), without_separator(lesson.value))))
            return Dimension("correction", pair), without_separator(lesson.value)
        case "preference":
            return Dimension("practice", without_separator(lesson.topic)), lesson.value


def says(dimension: Dimension, value: str, language: Language) -> str:
    """The preference in words, such as "prefers shorter text"."""
    topic = dimension.topic
    match dimension.kind:
        case "style":
            return text(f"edit_lesson.{topic}_{value}", language)
        case "correction":
            return text("edit_lesson.corrects", language, old=_other(topic, value), new=value)
        case "practice":
            return text(f"edit_lesson.{value}", language, what=topic)
        case "rather":
            return text("belief.rather", language, value=value, other=_other(topic, value))
        case "taste":
            return text(f"belief.{value}", language, what=topic)
        case "favourite":
            return text("belief.favourite", language, what=topic, value=value)
        case "choice":
            options = text("belief.comma", language).join(f"“{each}”" for each in topic.split(OPTIONS))
            return text("belief.choice", language, value=value, options=options)
        case "follow_up":
            return text(f"belief.{value}", language, what=topic)


def value_words(dimension: Dimension, value: str, language: Language) -> str:
    """A value as an option of a question which one holds."""
    return value if dimension.kind in ("rather", "favourite", "choice") else says(dimension, value, language)


def _other(topic: str, value: str) -> str:
    """The other ones of the values that are joined in a topic."""
    others = [each for each in topic.split(OPTIONS) if each.casefold() != value.casefold()]
    return ", ".join(others) or topic
