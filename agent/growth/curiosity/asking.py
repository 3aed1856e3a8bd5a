"""When a question may be put that nobody has prompted. Pure.

Never in quiet hours, nor in hours in which the person is usually busy; two are open at most, whoever asked them; one at
a time. What is urgent is asked at once, the rest once a day together, as far as there is room.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.attention.quiet import QuietHours
from agent.growth.curiosity.gap import CuriousGap

MOST_OPEN = 2
"""The most questions that wait for the person at once."""
APART = timedelta(minutes=30)
"""The least time between two questions."""
ROUND = timedelta(hours=20)
"""The least time between two rounds of questions that are not urgent; a round is over an hour after it began."""
_ROUND_LASTS = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """What was asked before: the number of open questions, and when unprompted ones were put, the oldest first; `keys`
    of the gaps that were asked about already."""

    open: int = 0
    at: tuple[datetime, ...] = ()
    keys: Collection[str] = frozenset()


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
    """The gap to ask about now, the urgent ones first; None if nothing is to be asked, or not now."""
    if before.open >= MOST_OPEN or not hours.is_good(now):
        return None
    if before.at and abs(now - before.at[-1]) < APART:
        return None
    new = [each for each in gaps if each.key not in before.keys]
    urgent = next((each for each in new if each.urgency == "high"), None)
    if urgent is not None or not _is_round(before, now):
        return urgent
    return next(iter(new), None)


def _is_round(before: AskedBefore, now: datetime) -> bool:
    """True if what is not urgent may be asked: in a round that has begun, or in the next one."""
    starts: list[datetime] = []
    for at in before.at:
        if not starts or at - starts[-1] >= ROUND:
            starts.append(at)
    return not starts or now - starts[-1] >= ROUND or now - starts[-1] < _ROUND_LASTS
