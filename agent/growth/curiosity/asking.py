"""When a question may be put that nothing waits for. Pure.

How many may be open, is the law in `asking.questions.law`. Beyond it: never in quiet hours, nor in hours in which
the person is usually busy; half an hour lies between two. What is urgent is asked at once, the rest once a day
together, as far as there is room.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from agent.asking.questions.law import MOST_OPEN, waits_for_answer
from agent.asking.questions.notes import AskedQuestion
from agent.attention.quiet import QuietHours
from agent.dataclass import dataclass
from agent.growth.curiosity.gap import CuriousGap

APART = timedelta(minutes=30)
"""The least time between two questions."""
ROUND = timedelta(hours=20)
"""The least time between two rounds of questions that are not urgent; a round is over an hour after it began."""
_ROUND_LASTS = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """What was asked before: the number of open questions, and when those were put that nothing waits for, the oldest
    first."""

    open: int = 0
    at: tuple[datetime, ...] = ()

    @classmethod
    def of(cls, asked: Iterable[AskedQuestion]) -> "AskedBefore":
        """What these notes say."""
        found = tuple(asked)
        times = (each.moment("created") for each in found if each.is_unprompted)
        return cls(sum(map(waits_for_answer, found)), tuple(sorted(filter(None, times))))

    def with_times(self, times: Iterable[datetime]) -> "AskedBefore":
        """With the times of questions whose notes are gone: who throws one away wants no other for it."""
        return replace(self, at=tuple(sorted({*self.at, *times})))


@dataclass(frozen=True, slots=True)
class AskingHours:
    """The hours of a person: quiet ones, and those (weekday from Monday as 0, hour) in which they are usually busy."""

    quiet: QuietHours
    busy: frozenset[tuple[int, int]] = frozenset()

    def is_good(self, at: datetime) -> bool:
        """True if a question may come at this moment."""
        wall = self.quiet.on_the_wall(at)
        return not self.quiet.holds(wall) and (wall.weekday(), wall.hour) not in self.busy


def choose_gap(gaps: Sequence[CuriousGap], before: AskedBefore, hours: AskingHours, now: datetime) -> CuriousGap | None:
    """The one of these gaps to ask about now, the urgent ones first; None if nothing is to be asked, or not now. They
    are new: none of them was asked about before."""
    if not may_ask_now(before, hours, now):
        return None
    urgent = next((each for each in gaps if each.urgency == "high"), None)
    if urgent is not None or not _is_round(before, now):
        return urgent
    return next(iter(gaps), None)


def may_ask_now(before: AskedBefore, hours: AskingHours, now: datetime) -> bool:
    """True if a question may be put now, if it is urgent or this is a round."""
    if before.open >= MOST_OPEN or not hours.is_good(now):
        return False
    return not before.at or abs(now - before.at[-1]) >= APART


def _is_round(before: AskedBefore, now: datetime) -> bool:
    """True if what is not urgent may be asked: in a round that has begun, or in the next one."""
    starts: list[datetime] = []
    for at in before.at:
        if not starts or at - starts[-1] >= ROUND:
            starts.append(at)
    return not starts or now - starts[-1] >= ROUND or now - starts[-1] < _ROUND_LASTS
