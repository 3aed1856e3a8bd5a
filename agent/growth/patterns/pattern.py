"""A pattern: what a detector has found, with the notes that it rests on."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.patterns.activity import Case
from agent.memory import daily

PatternKind: TypeAlias = Literal[
    "repeated_question",
    "tool_failure_pattern",
    "daily_rhythm",
    "abandoned_task",
    "rising_topic",
]
EVIDENCE = 5
"""The most links of a pattern."""
LEAST = 0.5
"""A pattern with less confidence is not shown."""
MOST = 5
"""The most patterns of one kind, the surest first: more would be noise."""
_ID, _QUOTED = 8, 100


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern. `subject` is what it is about, the same whenever it is found again; `name` says it in a sentence in
    the language of the vault. `frequency` counts its cases, `last` is the day of the last one, `evidence` are links to
    notes, the newest first. `words` are the texts of its cases."""

    kind: PatternKind
    subject: str
    name: str
    confidence: float
    frequency: int
    last: date
    evidence: tuple[str, ...]
    words: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """A short id, the same whenever the pattern is found again."""
        return hashlib.sha256(f"{self.kind}\n{self.subject}".encode("utf-8", "surrogateescape")).hexdigest()[:_ID]


def pattern_of(
    kind: PatternKind, subject: str, name: str, sure: float, cases: Sequence[Case], words: Iterable[str], count: int = 0
) -> Pattern:
    """The pattern of these cases, the oldest first; `count` is their number, if several of them are one."""
    newest = sorted(cases, key=lambda case: case.at, reverse=True)
    links = tuple(dict.fromkeys(case.link for case in newest))[:EVIDENCE]
    return Pattern(kind, subject, name, sure, count or len(cases), cases[-1].at.date(), links, tuple(words))


def surest(found: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """The patterns worth showing, the surest first."""
    shown = {each.id: each for each in found if each.confidence >= LEAST}
    return tuple(sorted(shown.values(), key=lambda each: (-each.confidence, -each.frequency, each.subject))[:MOST])


def quoted(text: str) -> str:
    """The beginning of a text as a quotation on one line that does nothing in an editor."""
    return f"“{daily.inert(daily.cut(' '.join(text.split()), _QUOTED))}”"
