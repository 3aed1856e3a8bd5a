"""Two groups compared: the difference of their shares or means, with an interval that contains the true one in 95 of
100 such comparisons, if nothing but the group made the difference."""

import math
from collections.abc import Sequence
from statistics import fmean, variance

from agent.dataclass import dataclass

_Z = 1.959964
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""Student's t at 0.975 for 1 to 30 degrees of freedom."""
LEAST = 5
"""The fewest cases of each group of which shares are compared: an interval of less says nothing."""
LEAST_WEEKS = 3
"""The fewest cases of each group of which means are compared."""


@dataclass(frozen=True, slots=True)
class Group:
    """`count` cases, such as runs or weeks, with `done` in all: completed runs, or boxes ticked in these weeks."""

    count: int
    done: float

    @property
    def mean(self) -> float | None:
        """What was done a case; a share if a case is done or not. None without a case."""
        return self.done / self.count if self.count else None


@dataclass(frozen=True, slots=True)
class Difference:
    """The first group's mean less the second's, and the ends of its interval of 95 %."""

    value: float
    low: float
    high: float

    @property
    def may_be_chance(self) -> bool:
        """True if no difference at all is within the interval."""
        return self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """Two groups; `difference` is None if there are too few cases to compare."""

    given: Group
    plain: Group
    difference: Difference | None = None


def compare_shares(given: Group, plain: Group) -> GroupComparison:
    """Compare two shares, by the hybrid score interval (method 10 in Newcombe, Statistics in Medicine 17, 1998)."""
    if min(given.count, plain.count) < LEAST:
        return GroupComparison(given, plain)
    (low, high), (other_low, other_high) = _wilson(given), _wilson(plain)
    one, other = given.done / given.count, plain.done / plain.count
    value = one - other
    below = math.sqrt((one - low) ** 2 + (other_high - other) ** 2)
    above = math.sqrt((high - one) ** 2 + (other - other_low) ** 2)
    return GroupComparison(given, plain, Difference(value, max(-1.0, value - below), min(1.0, value + above)))


def compare_means(given: Sequence[float], plain: Sequence[float]) -> GroupComparison:
    """Compare two means, by Welch's interval; None if there are too few cases, or if none differs from the others."""
    groups = Group(len(given), sum(given)), Group(len(plain), sum(plain))
    if min(len(given), len(plain)) < LEAST_WEEKS:
        return GroupComparison(*groups)
    errors = [variance(each) / len(each) for each in (given, plain)]
    if not sum(errors):
        return GroupComparison(*groups)
    squares = sum(error**2 / (len(each) - 1) for error, each in zip(errors, (given, plain), strict=True))
    freedom = int(sum(errors) ** 2 / squares)  # rounded down: rather too wide than too narrow
    value, reach = fmean(given) - fmean(plain), _t(freedom) * math.sqrt(sum(errors))
    return GroupComparison(*groups, Difference(value, value - reach, value + reach))


def _wilson(group: Group) -> tuple[float, float]:
    """The ends of the score interval of a share (Wilson, 1927)."""
    share, square = group.done / group.count, _Z**2
    middle = share + square / (2 * group.count)
    reach = _Z * math.sqrt(share * (1 - share) / group.count + square / (4 * group.count**2))
    whole = 1 + square / group.count
    return max(0.0, (middle - reach) / whole), min(1.0, (middle + reach) / whole)


def _t(freedom: int) -> float:
    """Student's t at 0.975; above the table by the first terms of its expansion in the normal one."""
    if freedom <= len(_T):
        return _T[max(freedom, 1) - 1]
    return _Z + (_Z**3 + _Z) / (4 * freedom)
