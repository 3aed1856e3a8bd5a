"""What a person and their agent did lately, and the patterns in it, as plain values: all that the detectors look at,
and what they find; and how sure a pattern is: by its lift over chance, and by how recent it is. Pure.

    confidence = certainty × recurrence

`certainty` is 1 - r, where r is the least risk that a case of chance is taken for a pattern: with P, the probability of
at least so many cases by chance alone in any of the candidates of a look, it is r = 1 / (1 + 1 / (-e·P·ln P)) for
P < 1/e and at least 1/2 above (Sellke, Bayarri and Berger 2001). The tail of one candidate is that of a Poisson
distribution whose mean is the count to be expected from the base rate; for the shares of two periods that of a binomial
distribution, as Przyborowski and Wilenski (1940) compare two Poisson rates. P is this tail times the number of
candidates of its kind, times the number of kinds (Bonferroni's correction, with the same share for each kind): a look
at what is random finds a pattern with a certainty of .7 in at most one of twenty cases. Where the most cases that a
candidate can have are known, only those that could be significant are counted (Tarone 1990).

`recurrence` is the probability of at least one more case within the next half-life, if cases come as a Poisson process
whose rate is the exponentially smoothed count: each case counts 2^(-age/14 days). With the sum S of these weights it is
1 - 2^(-S): three cases of today give .88, three of a month ago .40. The number of all entries does not appear in it, so
that a pattern does not sink as the vault grows."""

import hashlib
import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.memory import daily

RemarkKind: TypeAlias = Literal["asked", "stated", "written", "edited"]
"""The source of a remark: asked of the agent, stated in an entry, written on a day, or edited (the note's title)."""
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
    """The events of the days up to `now`, oldest first. `ticked` are the texts of boxes that are done."""

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


HALF_LIFE = 14.0
"""Days after which a case counts half."""
KINDS = 4
"""The kinds of patterns that are compared with chance here: questions, failures, rhythms, topics."""
ERROR = 0.05
"""The share of looks at what is random that may find a pattern with a certainty of .7."""
_DAY = 86_400.0


def confidence(chance: float, candidates: int, cases: Iterable[Case], now: datetime) -> float:
    """The confidence from 0 to 1, of a pattern with these cases; `chance` is the tail of it alone, and `candidates` the
    number of all that were looked at with it."""
    times = [each.at for each in cases]
    return round(certainty(min(1.0, chance * candidates * KINDS)) * recurrence(times, now), 2)


def certainty(chance: float) -> float:
    """1 - r as above, for the probability P of chance over all candidates."""
    if chance <= 0.0:
        return 1.0
    if chance >= 1 / math.e:
        return 0.0
    odds = -math.e * chance * math.log(chance)
    return 1.0 / (1.0 + odds)


def count_testable(least: Sequence[float]) -> int:
    """The number of candidates to correct for, by the least tail that each could have: the smallest k for which at most
    k of them could be below the k-th part of what one kind may err."""
    most = ERROR / KINDS
    return next((k for k in range(1, len(least)) if sum(each <= most / k for each in least) <= k), max(1, len(least)))


def recurrence(times: Iterable[datetime], now: datetime) -> float:
    """The probability of one more case within the next half-life."""
    total = sum(math.exp2(-max(0.0, (now - at).total_seconds()) / _DAY / HALF_LIFE) for at in times)
    return 1.0 - math.exp2(-total)


def poisson_tail(least: int, mean: float) -> float:
    """P(X >= least) for a Poisson distributed X."""
    below = (math.exp(number * math.log(mean) - mean - math.lgamma(number + 1)) for number in range(least))
    return max(0.0, 1.0 - sum(below))


def binomial_tail(least: int, count: int, share: float) -> float:
    """P(X >= least) for the number X of successes in `count` trials, each with the probability `share`."""
    if share >= 1.0:
        return 1.0
    odds = math.log(share), math.log1p(-share)
    whole = math.lgamma(count + 1)
    terms = (
        whole - math.lgamma(each + 1) - math.lgamma(count - each + 1) + each * odds[0] + (count - each) * odds[1]
        for each in range(least, count + 1)
    )
    return min(1.0, sum(map(math.exp, terms)))
