"""Intervals of differences: as the books have them, wide where there are few cases, none where there are too few."""

from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.metrics.comparison import Group, compare_means, compare_shares


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_shares_have_the_published_intervals(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe 1998, table II, method 10."""
    found = compare_shares(Group(one[1], one[0]), Group(other[1], other[0])).difference
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_means_have_the_interval_of_welch() -> None:
    """By hand: means 5 and 3, variances 2.5 and 1, five cases each: 6.68 degrees of freedom, t(6) = 2.447."""
    found = compare_means([3, 4, 5, 6, 7], [2, 2, 3, 4, 4]).difference
    assert found is not None and found.value == 2
    reach = 2.447 * 0.7**0.5
    assert (found.low, found.high) == pytest.approx((2 - reach, 2 + reach))
    assert found.may_be_chance


def test_too_few_cases_are_not_compared() -> None:
    assert compare_shares(Group(4, 4), Group(50, 10)).difference is None
    assert compare_means([1, 2], [1, 2, 3]).difference is None
    assert compare_means([2, 2, 2], [2, 2, 2]).difference is None, "nothing varies: nothing is known"
    assert compare_shares(Group(0, 0), Group(0, 0)).given.mean is None


@given(st.integers(5, 60), st.integers(5, 60), st.data())
def test_an_interval_contains_what_was_seen_and_ends_within_bounds(one: int, other: int, data: st.DataObject) -> None:
    done = data.draw(st.integers(0, one)), data.draw(st.integers(0, other))
    found = compare_shares(Group(one, done[0]), Group(other, done[1])).difference
    back = compare_shares(Group(other, done[1]), Group(one, done[0])).difference
    assert found is not None and back is not None
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert (found.low, found.high) == pytest.approx((-back.high, -back.low)), "neither group comes first"


def test_no_difference_is_within_the_interval_nearly_always() -> None:
    """Of two groups of twelve with one true share of 0.7, all outcomes with their probability."""

    def chance(done: int) -> float:
        return comb(12, done) * 0.7**done * 0.3 ** (12 - done)

    covered = 0.0
    for one, other in product(range(13), repeat=2):
        found = compare_shares(Group(12, one), Group(12, other)).difference
        covered += chance(one) * chance(other) * (found is not None and found.may_be_chance)
    assert covered > 0.93
