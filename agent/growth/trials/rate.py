"""A success rate against a threshold, judged after each use: Wald's sequential probability ratio test. Pure.

Wald, Sequential Analysis (1947): after each use, the likelihood of the outcomes at the `high` rate is divided by that
at the `low` rate, and the test ends when the ratio is large or small enough. The bounds here are 1 / `false_pass` and
`false_fail`: by Ville's inequality (1939), a rate of at most `low` then passes with a probability of at most
`false_pass`, and one of at least `high` fails with at most `false_fail`, however long the test goes on and whenever
somebody looks. `rate_chances` computes both exactly for a test that ends after `most` uses.
"""

import math
from collections.abc import Iterable
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.trials.walk import WalkChances, moved, walk_chances

RateVerdict: TypeAlias = Literal["passed", "failed", "open", "inconclusive"]
"""`open`: more uses are needed; `inconclusive`: undecided after the last use that the test allows."""


@dataclass(frozen=True, slots=True)
class RateTest:
    """A test whether a rate is `high` or better, or `low` or worse; 0 < low < high < 1. Between them either may come
    out, so a threshold lies there. `most` is the number of uses after which it ends undecided."""

    low: float
    high: float
    most: int
    false_pass: float = 0.05
    false_fail: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < 1 or self.most < 1:
            raise ValueError(f"no test of a rate: {self}")

    @property
    def success(self) -> float:
        """What a success adds to the logarithm of the ratio."""
        return math.log(self.high / self.low)

    @property
    def failure(self) -> float:
        """What a failure adds; below 0."""
        return math.log((1 - self.high) / (1 - self.low))

    @property
    def bounds(self) -> tuple[float, float]:
        """The upper and the lower bound of the logarithm."""
        return math.log(1 / self.false_pass), math.log(self.false_fail)


@dataclass(frozen=True, slots=True)
class JudgedRate:
    """The verdict on a rate, and after how many uses it was reached: those after it do not count."""

    verdict: RateVerdict
    uses: int


def judge_rate(outcomes: Iterable[bool], test: RateTest) -> JudgedRate:
    """The verdict on uses in the order of their time, True for a success; the first verdict stands."""
    upper, lower = test.bounds
    at, uses = 0.0, 0
    for is_success in outcomes:
        uses += 1
        at = moved(at, test.success if is_success else test.failure)
        if at >= upper or at <= lower:
            return JudgedRate("passed" if at >= upper else "failed", uses)
        if uses >= test.most:
            return JudgedRate("inconclusive", uses)
    return JudgedRate("open", uses)


def rate_chances(test: RateTest, rate: float) -> WalkChances:
    """What the test does with uses that succeed at this rate: passes (`upper`), fails (`lower`), or neither."""
    upper, lower = test.bounds
    return walk_chances(((test.success, rate), (test.failure, 1 - rate)), upper, lower, test.most)
