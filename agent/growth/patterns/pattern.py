"""What a person and their agent did lately, and the patterns in it, as plain values: all that the detectors look at,
and what they find."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.memory import daily

RemarkKind: TypeAlias = Literal["asked", "stated", "written", "edited"]
"""What was asked of the agent, stated in an entry, written into a note on a day, or edited (the note's title)."""
PatternKind: TypeAlias = Literal[
    "repeated_question", "tool_failure_pattern", "daily_rhythm", "abandoned_task", "rising_topic"
]
EVIDENCE = 5
"""The most links of a pattern."""
LEAST = 0.5
"""A pattern with less confidence is not shown."""
MOST = 5
"""The most patterns of one kind, the surest first: more would be noise."""
_ID, _QUOTED = 8, 100


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that the person asked or wrote. `at` is aware, in the wall clock of that moment; `is_timed` is false
    if only its day is known. `link` is that of the note that shows it."""

    kind: RemarkKind
    at: datetime
    text: str
    link: str
    is_timed: bool = True


@dataclass(frozen=True, slots=True)
class ToolCallMade:
    """One call of a tool in a run; `reason` is the error of a failed one, else empty."""

    at: datetime
    tool: str
    link: str
    reason: str = ""


Case: TypeAlias = Remark | ToolCallMade


@dataclass(frozen=True, slots=True)
class OpenBox:
    """A task that is not done: an unticked box in a note, or a task that waits. It was last touched at `since`."""

    text: str
    link: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Activity:
    """What happened in the days up to `now`, oldest first. `ticked` are the texts of boxes that are done."""

    now: datetime
    remarks: tuple[Remark, ...] = ()
    boxes: tuple[OpenBox, ...] = ()
    ticked: tuple[str, ...] = ()

    def of_kinds(self, *kinds: RemarkKind) -> tuple[Remark, ...]:
        """The remarks of these kinds."""
        return tuple(each for each in self.remarks if each.kind in kinds)


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
    sure = {each.id: each for each in found if each.confidence >= LEAST}
    return tuple(sorted(sure.values(), key=lambda each: (-each.confidence, -each.frequency, each.subject))[:MOST])


def quoted(text: str, most: int = _QUOTED) -> str:
    """The beginning of a text as a quotation on one line that does nothing in an editor."""
    return f"“{daily.inert(daily.cut(' '.join(text.split()), most))}”"
