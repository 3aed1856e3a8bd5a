"""A success rate that was good, watched for a drop after each use: Page's cumulative sum. Pure.

Page (1954): each use adds the logarithm of the likelihood ratio of the lower rate to the good one, and the sum is held
at 0 from below, so that successes long ago do not hide a drop. The alarm is at the lowest bound with which a rate that
stays good gives a false alarm with a probability of at most `false_alarm` within `most` uses, computed exactly.
"""

import math
from collections.abc import Iterable
from functools import lru_cache

from agent.dataclass import dataclass
from agent.growth.trials.walk import WalkChances, moved, walk_chances


@dataclass(frozen=True, slots=True)
class DropTest:
    """A watch over a rate that was `good`, for a drop to about `bad`, over `most` uses; 0 < bad < good < 1."""

    good: float
    bad: float
    most: int
    false_alarm: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.bad < self.good < 1 or self.most < 1:
            raise ValueError(f"no test of a drop: {self}")

    @property
    def success(self) -> float:
        """What a success adds; below 0."""
        return math.log(self.bad / self.good)

    @property
    def failure(self) -> float:
        """What a failure adds."""
        return math.log((1 - self.bad) / (1 - self.good))


def uses_until_drop(outcomes: Iterable[bool], test: DropTest) -> int | None:
    """The number of uses, in the order of their time, until the alarm; None without one within `test.most` uses."""
    bound, at = alarm_bound(test), 0.0
    for number, is_success in enumerate(outcomes, 1):
        at = moved(at, test.success if is_success else test.failure, 0.0)
        if at >= bound:
            return number
        if number >= test.most:
            return None
    return None


def drop_chances(test: DropTest, rate: float, uses: int) -> WalkChances:
    """What the watch does within so many uses that succeed at this rate: an alarm (`upper`), or none (`inside`)."""
    return _chances(test, alarm_bound(test), rate, uses)


@lru_cache(64)
def alarm_bound(test: DropTest) -> float:
    """The lowest bound, within a thousandth, that keeps the watch's rate of false alarms."""
    low, high = 0.0, test.failure * test.most + 0.001
    while high - low > 0.001:
        middle = (low + high) / 2
        is_enough = _chances(test, middle, test.good, test.most).upper <= test.false_alarm
        low, high = (low, middle) if is_enough else (middle, high)
    return high


def _chances(test: DropTest, bound: float, rate: float, uses: int) -> WalkChances:
    return walk_chances(((test.success, rate), (test.failure, 1 - rate)), bound, 0.0, uses, reflects=True)
