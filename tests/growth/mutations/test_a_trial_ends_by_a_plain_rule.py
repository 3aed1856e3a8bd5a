"""The rule by which a trial ends: ten uses each, kept if better by the improvement, dropped early if worse."""

from datetime import timedelta
from fractions import Fraction
from itertools import product
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.growth.lessons.verdict import TrialCount, count_trial, has_dropped, judge_trial
from agent.skills.history.usage import Opinion, Use
from agent.skills.variants.variant import EARLY_USES, TRIAL_USES, Arm, TrialPlan, trial_label
from tests.growth.work import NOW

PLAN = TrialPlan(gain=0.1, tolerance=0.1)
SIDE = st.lists(st.booleans(), max_size=TRIAL_USES).map(tuple)
WHOLE = st.lists(st.booleans(), min_size=TRIAL_USES, max_size=TRIAL_USES).map(tuple)
COUNTS = tuple((True,) * good + (False,) * (uses - good) for uses in range(TRIAL_USES + 1) for good in range(uses + 1))
ARMS: tuple[Arm, ...] = ("original", "variant", "kept")


def rate(outcomes: tuple[bool, ...]) -> Fraction:
    return Fraction(sum(outcomes), len(outcomes))


def row(number: int, arm: Arm, opinion: Opinion, outcome: str = "finished") -> Use:
    at = NOW + timedelta(hours=number)
    return Use("s", at, f"r{number}", outcome=outcome, feedback=opinion, trial=trial_label(1, arm))


@pytest.mark.parametrize(("gain", "tolerance"), [(1, 1), (2, 1), (1, 3)])
def test_only_a_variant_that_is_better_by_the_improvement_is_kept(gain: int, tolerance: int) -> None:
    """All counts of successes and uses; gain and tolerance are in tenths."""
    plan = TrialPlan(gain / 10, tolerance / 10)
    for original, variant in product(COUNTS, COUNTS):
        verdict = judge_trial(plan, TrialCount(original, variant))
        is_early = min(len(original), len(variant)) >= EARLY_USES
        if is_early and rate(original) - rate(variant) > Fraction(tolerance, 10):
            assert verdict == "worse"
        elif not len(original) == len(variant) == TRIAL_USES:
            assert verdict == "open"
        elif rate(variant) - rate(original) >= Fraction(gain, 10):
            assert verdict == "better"
        else:
            assert verdict == "inconclusive"


@given(WHOLE, WHOLE, st.randoms())
def test_the_order_of_the_uses_does_not_matter_at_the_end(
    original: tuple[bool, ...], variant: tuple[bool, ...], dice: Random
) -> None:
    shuffled = TrialCount(tuple(dice.sample(original, 10)), tuple(dice.sample(variant, 10)))
    verdict = judge_trial(PLAN, TrialCount(original, variant))
    assert verdict == judge_trial(PLAN, shuffled) != "open"


@given(st.lists(st.tuples(st.sampled_from(ARMS), st.sampled_from(["", "helpful", "not_helpful", "corrected"]))))
def test_the_first_ten_uses_of_each_count_and_silence_for_neither(said: list[tuple[Arm, Opinion]]) -> None:
    rows = [row(number, *each, "failed" if number % 2 else "finished") for number, each in enumerate(said)]
    count = count_trial(rows, 1)
    for arm, found in zip(ARMS, (count.original, count.variant, count.adopted), strict=True):
        assert found == tuple(opinion == "helpful" for each, opinion in said if each == arm and opinion)[:TRIAL_USES]
    assert count_trial(rows, 2) == TrialCount()


@given(WHOLE, SIDE)
def test_a_kept_variant_goes_when_it_does_worse_than_the_skill_did(
    original: tuple[bool, ...], kept: tuple[bool, ...]
) -> None:
    is_worse = len(kept) >= EARLY_USES and rate(original) - rate(kept) > Fraction(1, 10)
    assert has_dropped(PLAN, TrialCount(original, adopted=kept)) == is_worse


def test_one_more_of_ten_is_enough_and_the_note_says_what_that_proves() -> None:
    nine = (True,) * 9 + (False,)
    assert judge_trial(PLAN, TrialCount(nine, (True,) * 10)) == "better"
    assert judge_trial(PLAN, TrialCount(nine, nine)) == "inconclusive"
    chances = [comb(10, good) * 0.9**good * 0.1 ** (10 - good) for good in range(11)]
    ahead = sum(one * other for more, one in enumerate(chances) for other in chances[:more])
    assert 0.3 < ahead < 0.37, "of two that succeed in nine of ten uses, the second is ahead in every third trial"
