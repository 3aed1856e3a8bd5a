"""The values of rules. Pure."""

import re
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

RuleStatus: TypeAlias = Literal["probation", "active", "deprecated"]
"""Rules on probation and active ones are given to runs; a deprecated one stays in its note and is followed no more."""
_FULL_WIDTH = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_COLON = re.compile(r"\s*：\s*")
IN_FORCE = frozenset(("probation", "active"))


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """One rule, as its note at `path` has it: in the case `when` (empty: always), do what `text` says.

    `learned` is the mark of the words that the agent wrote (empty: the person wrote the note by hand), `evidence` the
    paths of the notes that it rests on. `data` is the whole note, of which the text begins on `line`.
    """

    path: str
    text: str
    when: str = ""
    status: RuleStatus = "active"
    version: int = 1
    learned: str = ""
    evidence: tuple[str, ...] = ()
    id: str = ""
    data: bytes = b""
    line: int = 1

    @property
    def words(self) -> str:
        """The mark of its present words: uses of other words do not count for these."""
        return words_mark(self.text, self.when)

    @property
    def is_persons(self) -> bool:
        """True if its words are the person's: written by hand, or changed since the agent wrote them."""
        return self.learned != self.words

    @property
    def name(self) -> str:
        """The name of its note, without folder and ending."""
        return self.path.rpartition("/")[2].removesuffix(".md")

    @property
    def link(self) -> str:
        """A link to its note."""
        return f"[[{self.path.removesuffix('.md')}]]"

    @property
    def sentence(self) -> str:
        """The rule in one line."""
        return rule_sentence(self.text, self.when)


def rule_sentence(text: str, when: str) -> str:
    """A rule in one line: the case, and what to do then; between the two the colon of its script."""
    case = when.rstrip(" .。:：,，")
    return f"{case}{'：' if _FULL_WIDTH.search(case[-1:]) else ': '}{text}" if when else text


def without_case(sentence: str) -> str:
    """What a rule in one line says, without its case; the whole line if it has none."""
    case, _, said = _COLON.sub(": ", sentence, count=1).partition(": ")
    return said or case


def words_mark(text: str, when: str) -> str:
    """The mark of a rule's words: eight hexadecimal digits, the same for any spacing and case."""
    said = "\0".join(" ".join(part.split()).casefold() for part in (text, when))
    return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:8]
