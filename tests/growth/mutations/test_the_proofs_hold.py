"""Planted strengths, by the whole chain from rows of a history to the verdict: errors as seldom as stated."""

import random
from datetime import timedelta

import pytest

from agent.growth.mutations.verdict import WATCHED, TrialCount, count_trial, has_dropped, judge_trial, odds_of
from agent.skills.history.usage import Use
from agent.skills.variants.variant import TrialPlan, next_arm, trial_label
from tests.growth.work import NOW

PLAN = TrialPlan(rate=0.86, gain=0.1, tolerance=0.1, uses=200)
SEEDS = [500, pytest.param(5_000, marks=pytest.mark.chaos)]


def trial(original: float, variant: float, seed: int) -> tuple[str, int]:
    """The verdict of a trial in which the uses succeed at these rates, and the number of its uses.

    The counts go through rows, as the program reads them, in blocks; what came after the verdict does not matter.
    """
    dice = random.Random(f"{original} {variant} {seed}")
    rows: list[Use] = []
    for block in range(1, 11):
        for number in range(len(rows), PLAN.uses * block // 10):
            arm = next_arm(number)
            good = dice.random() < (original if arm == "original" else variant)
            at = NOW + timedelta(hours=number)
            outcome = "finished" if good else "failed"
            rows.append(Use("s", at, f"r{number}", outcome=outcome, trial=trial_label(1, arm)))
        judged = judge_trial(PLAN, count_trial(rows, 1))
        if judged.verdict != "open":
            return judged.verdict, 2 * judged.pairs
    raise AssertionError("a trial has no end")


@pytest.mark.parametrize("size", SEEDS)
def test_an_equal_variant_is_kept_in_at_most_five_of_a_hundred_trials(size: int) -> None:
    found = [trial(0.86, 0.86, seed)[0] for seed in range(size)]
    assert found.count("better") / size <= 0.05


@pytest.mark.parametrize("size", SEEDS)
def test_a_worse_variant_is_hardly_ever_kept_and_soon_dropped(size: int) -> None:
    found = [trial(0.86, 0.6, seed) for seed in range(size)]
    assert sum(verdict == "better" for verdict, _ in found) / size <= 0.01
    assert sum(uses for _, uses in found) / size <= 30


@pytest.mark.parametrize("size", SEEDS)
@pytest.mark.parametrize(("strength", "power"), [(0.96, 0.55), (0.99, 0.9)])
def test_a_better_variant_is_kept_as_often_as_stated(strength: float, power: float, size: int) -> None:
    found = [trial(0.86, strength, seed)[0] for seed in range(size)]
    assert found.count("better") / size >= power


def test_the_power_that_a_note_states_is_the_calculated_one() -> None:
    odds = odds_of(PLAN)
    assert odds.better == pytest.approx(0.6, abs=0.01) and odds.equal <= 0.05
    assert odds_of(TrialPlan(0.95, 0.1, 0.1, 200)).gain == pytest.approx(0.04), "no rate is above .99"


@pytest.mark.parametrize("size", SEEDS)
def test_a_degraded_skill_is_rolled_back_within_ten_uses(size: int) -> None:
    soon = false = 0
    for seed in range(size):
        dice = random.Random(seed)
        bad = has_dropped(PLAN, [dice.random() < 0.25 for _ in range(10)])
        good = has_dropped(PLAN, [dice.random() < PLAN.rate for _ in range(WATCHED)])
        soon, false = soon + (bad is not None), false + (good is not None)
    assert soon / size >= 0.95
    assert false / size <= 0.06


def test_the_verdict_is_the_same_however_often_one_looks() -> None:
    dice = random.Random(3)
    sides = [[dice.random() < rate for _ in range(100)] for rate in (0.86, 0.99)]
    at_end = judge_trial(PLAN, TrialCount(tuple(sides[0]), tuple(sides[1])))
    looks = [judge_trial(PLAN, TrialCount(tuple(sides[0][:n]), tuple(sides[1][:n]))) for n in range(101)]
    assert next(each for each in looks if each.verdict != "open") == at_end
