"""The stated error rates hold: exactly by the calculation, and in simulated trials with planted rates."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.growth.trials.drop import DropTest, drop_chances, uses_until_drop
from agent.growth.trials.pair import PairTest, judge_pairs, pair_chances
from agent.growth.trials.rate import RateTest, judge_rate, rate_chances

RATE = RateTest(low=0.5, high=0.9, most=15)
PAIR = PairTest(rate=0.86, gain=0.1, most=200)
DROP = DropTest(good=0.9, bad=0.5, most=20)
SMALL, FULL = 500, 20_000
SIZES = [SMALL, pytest.param(FULL, marks=pytest.mark.chaos)]
RATES = st.floats(0.02, 0.98)


def uses(rate: float, seed: object) -> Iterator[bool]:
    """Uses without end that succeed at this rate."""
    dice = random.Random(str(seed))
    while True:
        yield dice.random() < rate


def share(found: Iterable[object], wanted: object) -> float:
    counts = Counter(found)
    return counts[wanted] / counts.total()


def near(expected: float, size: int) -> object:
    """Within four standard errors of the exact figure."""
    return pytest.approx(expected, abs=4 * (max(expected * (1 - expected), 0.01) / size) ** 0.5)


@given(st.floats(0.02, 0.9), st.floats(0.05, 0.5), st.integers(1, 60))
def test_a_bad_rate_passes_and_a_good_one_fails_as_seldom_as_stated(low: float, more: float, most: int) -> None:
    test = RateTest(low, min(low + more, 0.99), most)
    assert rate_chances(test, test.low).upper <= test.false_pass
    assert rate_chances(test, test.high).lower <= test.false_fail


@given(RATES, st.floats(0.02, 0.5), RATES, st.floats(0.0, 1.0), st.integers(2, 120))
def test_a_way_that_is_not_better_is_kept_as_seldom_as_stated(
    rate: float, gain: float, present: float, less: float, most: int
) -> None:
    test = PairTest(rate, gain, most)
    assert pair_chances(test, present, present * less).upper <= test.false_keep
    assert pair_chances(test, present, present).upper <= test.false_keep
    assert pair_chances(test, rate, test.expected).lower <= test.false_drop + 1e-9


@given(st.floats(0.3, 0.98), st.floats(0.1, 0.9), st.integers(1, 30))
def test_a_rate_that_stays_good_gives_as_few_false_alarms_as_stated(good: float, part: float, most: int) -> None:
    test = DropTest(good, good * part, most)
    assert drop_chances(test, test.good, most).upper <= test.false_alarm


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rate", [0.5, 0.7, 0.9])
def test_simulated_rates_come_out_as_calculated(rate: float, size: int) -> None:
    judged = [judge_rate(uses(rate, f"{rate} {seed}"), RATE) for seed in range(size)]
    exact, verdicts = rate_chances(RATE, rate), [each.verdict for each in judged]
    assert share(verdicts, "passed") == near(exact.upper, size)
    assert share(verdicts, "failed") == near(exact.lower, size)
    assert sum(each.uses for each in judged) / size == pytest.approx(exact.steps, rel=0.1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("present", "other"), [(0.86, 0.86), (0.86, 0.96), (0.86, 0.99), (0.9, 0.7)])
def test_simulated_pairs_come_out_as_calculated(present: float, other: float, size: int) -> None:
    judged = [judge_pairs(uses(present, f"a{seed}"), uses(other, f"b{seed}"), PAIR) for seed in range(size)]
    exact = pair_chances(PAIR, present, other)
    assert share([each.verdict for each in judged], "better") == near(exact.upper, size)
    assert share([each.verdict in {"alike", "worse"} for each in judged], True) == near(exact.lower, size)


def test_an_equal_way_is_seldom_kept_and_a_clearly_better_one_mostly() -> None:
    """500 seeds each: at most 5 % false, and the power stated in the settings' documentation."""
    equal = [judge_pairs(uses(0.86, f"a{seed}"), uses(0.86, f"b{seed}"), PAIR).verdict for seed in range(500)]
    better = [judge_pairs(uses(0.86, f"a{seed}"), uses(0.99, f"b{seed}"), PAIR).verdict for seed in range(500)]
    assert share(equal, "better") <= 0.05
    assert share(better, "better") >= 0.9


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rate", [0.9, 0.5, 0.3])
def test_simulated_drops_come_out_as_calculated(rate: float, size: int) -> None:
    found = [uses_until_drop(uses(rate, f"{rate} {seed}"), DROP) for seed in range(size)]
    soon = [number is not None and number <= 10 for number in found]
    assert share([number is not None for number in found], True) == near(drop_chances(DROP, rate, 20).upper, size)
    assert share(soon, True) == near(drop_chances(DROP, rate, 10).upper, size)


def test_a_bad_drop_is_noticed_within_ten_uses() -> None:
    assert drop_chances(DROP, 0.3, 10).upper >= 0.95


@given(st.lists(st.booleans(), max_size=60), st.lists(st.booleans(), max_size=60), st.integers(0, 60))
def test_the_first_verdict_stands(first: list[bool], second: list[bool], cut: int) -> None:
    """Whoever looks after each use and whoever looks at the end see the same verdict."""
    early = judge_rate(first[:cut], RATE)
    assert early.verdict == "open" or early == judge_rate(first, RATE)
    pairs = judge_pairs(first[:cut], second[:cut], PAIR)
    assert pairs.verdict == "open" or pairs == judge_pairs(first, second, PAIR)
    alarm = uses_until_drop(first[:cut], DROP)
    assert alarm is None or alarm == uses_until_drop(first, DROP)


@given(st.integers(1, 40), RATES)
def test_a_trial_ends_after_its_last_use(most: int, rate: float) -> None:
    test = RateTest(0.4, 0.6, most)
    assert judge_rate(islice(uses(rate, most), most), test).verdict != "open"
    both = PairTest(0.5, 0.1, 2 * most)
    assert judge_pairs(islice(uses(rate, 1), most), islice(uses(rate, 2), most), both).verdict != "open"


def test_a_use_without_its_partner_waits() -> None:
    assert judge_pairs([False] * 20, [True], PAIR).pairs == 1


def test_a_way_that_is_much_worse_is_called_worse() -> None:
    assert judge_pairs([True] * 20, [False] * 20, PAIR).verdict == "worse"
    assert judge_pairs([True] * 60, [True] * 58 + [False] * 2, PAIR).verdict == "alike"


@pytest.mark.parametrize(
    "made",
    [
        lambda: RateTest(0.9, 0.5, 10),
        lambda: RateTest(0.5, 1.0, 10),
        lambda: PairTest(1.0, 0.1, 100),
        lambda: PairTest(0.9, 0.0, 100),
        lambda: DropTest(0.5, 0.5, 10),
    ],
)
def test_a_test_that_cannot_decide_is_refused(made: object) -> None:
    with pytest.raises(ValueError, match="no test"):
        made()  # type: ignore[operator]
