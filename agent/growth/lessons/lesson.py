"""The value of a lesson: one sentence of how to go about work, with its case and its state. Pure."""

import re
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

LessonState: TypeAlias = Literal["probation", "active", "deprecated"]
"""Lessons on probation and active ones are given to runs; one that is set aside stays in the note and is not given."""
IN_FORCE = frozenset(("probation", "active"))
_FULL_WIDTH = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_COLON = re.compile(r"\s*：\s*")


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson, as the row `row` of the note at `path` has it, on its `line`: in the case `when` (empty: always), do
    what `text` says.

    `id` is the mark of the words that the agent wrote (empty: the person wrote the row). So two machines that learn the
    same write the same row, and a changed one is known as the person's.
    """

    text: str
    when: str = ""
    state: LessonState = "active"
    id: str = ""
    path: str = ""
    row: str = ""
    line: int = 1

    @property
    def words(self) -> str:
        """The mark of its present words: uses of other words do not count for these."""
        return words_mark(self.text, self.when)

    @property
    def key(self) -> str:
        """The mark by which the log knows it: that of its first words."""
        return self.id or self.words

    @property
    def is_persons(self) -> bool:
        """True if its words are the person's: written by hand, or changed since the agent wrote them."""
        return self.id != self.words

    @property
    def link(self) -> str:
        """A link to its row."""
        return f"[[{lesson_target(self.path, self.key)}]]"

    @property
    def sentence(self) -> str:
        """The lesson in one line."""
        return lesson_sentence(self.text, self.when)


def lesson_target(path: str, key: str) -> str:
    """The target of a link to the row with this mark."""
    return f"{path.removesuffix('.md')}#^l-{key}"


def lesson_sentence(text: str, when: str) -> str:
    """A lesson in one line: the case, and what to do then; between the two the colon of its script."""
    return (
        f"{case_words(when)}{'' if _FULL_WIDTH.search(when.rstrip(' .。:：,，')[-1:]) else ' '}{text}" if when else text
    )


def case_words(when: str) -> str:
    """A case with the colon of its script."""
    case = when.rstrip(" .。:：,，")
    return f"{case}{'：' if _FULL_WIDTH.search(case[-1:]) else ':'}"


def without_case(sentence: str) -> str:
    """The words of a lesson in one line without its case; the whole line if it has none."""
    case, _, rest = _COLON.sub(": ", sentence, count=1).partition(": ")
    return rest or case


def words_mark(text: str, when: str) -> str:
    """The mark of a lesson's words: eight hexadecimal digits, the same for any spacing and case."""
    folded = "\0".join(" ".join(part.split()).casefold() for part in (text, when))
    return sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:8]
