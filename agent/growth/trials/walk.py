"""The probabilities with which a random walk of independent steps reaches its bounds, computed exactly. Pure.

A sequential test is such a walk: each use of what is tested adds the logarithm of a likelihood ratio. The distribution
of the walk is carried from step to step, as for Markov chains in Brook and Evans (1972), with no approximation but the
rounding of sums to nine digits.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from agent.dataclass import dataclass

DIGITS = 9
"""The decimals of a sum: equal sums of the same steps in another order are one state."""


@dataclass(frozen=True, slots=True)
class WalkChances:
    """The probabilities that a walk ends at its upper bound, at its lower bound, or within both after its last step;
    `steps` is the expected number of steps until then."""

    upper: float
    lower: float
    inside: float
    steps: float


@lru_cache(256)
def walk_chances(
    steps: Sequence[tuple[float, float]], upper: float, lower: float, most: int, *, reflects: bool = False
) -> WalkChances:
    """The fate of a walk from 0 of at most `most` steps, each a pair of its size and its probability.

    With `reflects`, the walk is held at the lower bound instead of ending there, as in a cumulative sum.
    """
    inside: dict[float, float] = {0.0: 1.0}
    ends = [0.0, 0.0]
    expected = 0.0
    for number in range(1, most + 1):
        after: defaultdict[float, float] = defaultdict(float)
        for at, chance in inside.items():
            for size, share in steps:
                after[moved(at, size, lower if reflects else None)] += chance * share
        inside = {}
        for at, chance in after.items():
            if at >= upper or (at <= lower and not reflects):
                ends[at < upper] += chance
                expected += number * chance
            else:
                inside[at] = chance
    left = sum(inside.values())
    return WalkChances(ends[0], ends[1], left, expected + most * left)


def moved(at: float, size: float, floor: float | None = None) -> float:
    """The place of a walk after a step of this size, rounded, and not below the floor."""
    place = round(at + size, DIGITS)
    return place if floor is None else max(floor, place)
