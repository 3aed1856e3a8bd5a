"""When a question may be put that nothing waits for: at most one a day, never in quiet hours, and never while as many
are open as the law in `asking.questions.law` allows. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from agent.asking.questions.law import MOST_OPEN, waits_for_answer
from agent.asking.questions.notes import AskedQuestion
from agent.attention.quiet import QuietHours
from agent.dataclass import dataclass
from agent.growth.curiosity.gap import CuriousGap

APART = timedelta(hours=20)
"""The least time between two questions: one a day, also for who sits down a little earlier."""


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """What was asked before: the number of open questions, and when those were put that nothing waits for."""

    open: int = 0
    at: tuple[datetime, ...] = ()

    @classmethod
    def of(cls, asked: Iterable[AskedQuestion], gone: Iterable[datetime] = ()) -> "AskedBefore":
        """What these notes say, with the times of questions whose notes are `gone`: who throws one away wants no other
        for it."""
        found = tuple(asked)
        times = (each.moment("created") for each in found if each.is_unprompted)
        return cls(sum(map(waits_for_answer, found)), tuple(sorted({*filter(None, times), *gone})))


def may_ask_now(before: AskedBefore, quiet: QuietHours, now: datetime) -> bool:
    """True if a question may be put now."""
    if before.open >= MOST_OPEN or quiet.holds(quiet.on_the_wall(now)):
        return False
    return all(abs(now - at) >= APART for at in before.at)


def choose_gap(gaps: Sequence[CuriousGap], before: AskedBefore, quiet: QuietHours, now: datetime) -> CuriousGap | None:
    """The one of these gaps to ask about now, an urgent one first; None if nothing is to be asked, or not now. They are
    new: none of them was asked about before."""
    if not may_ask_now(before, quiet, now):
        return None
    return next((each for each in gaps if each.urgency == "high"), next(iter(gaps), None))
