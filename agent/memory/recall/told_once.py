"""Nothing twice: neither what the conversation has already, nor one fact from several places."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.dataclass import dataclass
from agent.memory.memory_note import words
from agent.memory.recall.eligibility import is_bare
from agent.memory.recall.recaller import Remembered
from agent.memory.understanding.rules import is_same

_MARKS = re.compile(r"^[\s>*+•-]*(?:\[[ xX]\] )?|\*\*|\s+")
_LISTS = frozenset({"long_term", "profile"})
"""The kinds of memories of which each line is a fact of its own."""


@dataclass(frozen=True, slots=True)
class HeldText:
    """The text that stands before the model in a conversation, without list marks and in one line."""

    text: str = ""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "HeldText":
        """What these messages and results of tools say."""
        return cls().with_texts(texts)

    def with_texts(self, texts: Iterable[str]) -> "HeldText":
        """The same with more texts."""
        return HeldText("\n".join((self.text, *(_plain(row) for text in texts for row in text.splitlines()))))

    def has(self, passage: str) -> bool:
        """True if each line of a passage stands before the model, apart from headings."""
        rows = [plain for row in passage.splitlines() if not row.startswith("#") and (plain := _plain(row))]
        return bool(rows) and all(row in self.text for row in rows)


def without_told(found: Remembered, told: Sequence[Remembered]) -> Remembered | None:
    """A memory without the lines that say what another one says, if each of its lines is a fact; None if nothing is
    left of it."""
    if found.kind not in _LISTS:
        return found
    facts = [row for each in told for row in each.text.splitlines()]
    rows = found.text.splitlines()
    left = [row for row in rows if not any(is_same(words(row) or row, fact) for fact in facts)]
    return None if is_bare("\n".join(left)) else replace(found, text="\n".join(left))


def _plain(row: str) -> str:
    return _MARKS.sub(" ", row).strip()
