"""Two success rates against each other, used in turn: Wald's sequential test of double dichotomies. Pure.

Wald, Sequential Analysis (1947), chapter 6: each use of the present way is paired with the next one of the other way,
and only pairs with different outcomes count. Where both rates are equal, the other way wins half of these, whatever the
rate is; where it is better by `gain`, the share that it wins is known from the odds of the two rates. The ratio of the
two likelihoods is bounded by 1 / `false_keep` and `false_drop`: by Ville's inequality (1939), a way that is not better
is kept with a probability of at most `false_keep`, however long the test goes on. One that is better by `gain` is
dropped with at most `false_drop`; how often it is kept within `most` uses says `pair_chances`, exactly.
"""

import math
from collections.abc import Iterable
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.trials.walk import WalkChances, moved, walk_chances

PairVerdict: TypeAlias = Literal["better", "worse", "alike", "open", "inconclusive"]
"""`worse` and `alike` both say that the other way is not better by `gain`; it is `worse` if its rate was lower by more
than `tolerance`. `open`: more uses are needed; `inconclusive`: undecided after the last use that the test allows."""
HIGHEST = 0.99
"""The highest rate that is expected of anything: at 1, one failure would end the test."""


@dataclass(frozen=True, slots=True)
class PairTest:
    """A test whether another way is better than the present one, whose success rate is about `rate`, by `gain`.

    `most` is the number of uses of both together after which it ends undecided.
    """

    rate: float
    gain: float
    most: int
    tolerance: float = 0.05
    false_keep: float = 0.05
    false_drop: float = 0.2

    def __post_init__(self) -> None:
        if not 0 < self.rate < self.expected or self.most < 2:
            raise ValueError(f"no test of two rates: {self}")

    @property
    def expected(self) -> float:
        """The rate of the other way if it is better by `gain`, as far as a rate can be."""
        return min(self.rate + self.gain, HIGHEST)

    @property
    def share(self) -> float:
        """The share of the pairs with different outcomes that the other way then wins."""
        wins, losses = self.expected * (1 - self.rate), self.rate * (1 - self.expected)
        return wins / (wins + losses)

    @property
    def bounds(self) -> tuple[float, float]:
        """The upper and the lower bound of the logarithm of the ratio."""
        return math.log(1 / self.false_keep), math.log(self.false_drop)

    @property
    def win(self) -> float:
        """What a pair adds in which only the other way succeeded."""
        return math.log(2 * self.share)

    @property
    def loss(self) -> float:
        """What a pair adds in which only the present way succeeded; below 0."""
        return math.log(2 * (1 - self.share))


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """The verdict on two ways, and the pairs until it was reached: how many, and in how many each way succeeded."""

    verdict: PairVerdict
    pairs: int
    present: int
    other: int


def judge_pairs(present: Iterable[bool], other: Iterable[bool], test: PairTest) -> JudgedPairs:
    """The verdict on the uses of both ways, each in the order of their time, True for a success.

    A use without its partner waits; the first verdict stands, and what came after it does not count.
    """
    upper, lower = test.bounds
    at, pairs, wins = 0.0, 0, [0, 0]
    for first, second in zip(present, other, strict=False):
        pairs, wins = pairs + 1, [wins[0] + first, wins[1] + second]
        if first != second:
            at = moved(at, test.win if second else test.loss)
        if at >= upper:
            return JudgedPairs("better", pairs, *wins)
        if at <= lower:
            is_worse = (wins[0] - wins[1]) / pairs > test.tolerance
            return JudgedPairs("worse" if is_worse else "alike", pairs, *wins)
        if 2 * (pairs + 1) > test.most:
            return JudgedPairs("inconclusive", pairs, *wins)
    return JudgedPairs("open", pairs, *wins)


def pair_chances(test: PairTest, present: float, other: float) -> WalkChances:
    """What the test does with two ways that succeed at these rates: keeps the other way (`upper`), drops it (`lower`),
    or neither; `steps` counts pairs."""
    upper, lower = test.bounds
    win, loss = other * (1 - present), present * (1 - other)
    return walk_chances(((test.win, win), (test.loss, loss), (0.0, 1 - win - loss)), upper, lower, test.most // 2)
