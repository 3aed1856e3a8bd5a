"""Remarks at random moments about random things have no pattern that is sure, however many there are."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from agent.growth.patterns.detectors import reason_kind, tool_failures
from agent.growth.patterns.look import detect
from agent.growth.patterns.pattern import (
    Activity,
    OpenBox,
    Remark,
    ToolCallMade,
    binomial_tail,
    certainty,
    confidence,
    count_testable,
    poisson_tail,
    recurrence,
)

NOW = datetime(2026, 11, 22, 21, 0, tzinfo=UTC)
WORDS = (
    *("garden", "river", "stone", "bread", "paper", "winter", "lamp", "music", "boat", "letter", "cloud", "market"),
    *("bridge", "window", "silver", "engine", "forest", "harbour", "mirror", "pencil", "carpet", "kettle", "ladder"),
    *("hammer", "violin", "planet", "butter", "saddle", "castle", "button", "ticket", "bottle", "basket", "anchor"),
)


def by_chance(seed: int, count: int, hours: tuple[int, int]) -> Activity:
    """So many questions within five weeks, each of three words."""
    random = Random(seed)
    remarks = []
    for number in range(count):
        day = NOW - timedelta(days=random.randrange(35))
        at = day.replace(hour=random.randrange(*hours), minute=random.randrange(60))
        asked = f"Where is the {' '.join(random.sample(WORDS, 3))}?"
        remarks.append(Remark("asked", min(at, NOW), asked, f"[[s{number}]]"))
    return Activity(NOW, tuple(sorted(remarks, key=lambda each: each.at)))


@pytest.mark.parametrize("looks", [8, pytest.param(300, marks=pytest.mark.chaos)])
def test_random_questions_have_no_pattern_that_is_sure(looks: int) -> None:
    """At most one look of twenty may find one by the error that the correction allows; in 300 looks none did."""
    counts = (60, 150, 400, 1500)
    found = [each for seed in range(looks) for each in detect(by_chance(seed, counts[seed % 4], (7, 23)), "en")]
    assert not [each for each in found if each.confidence > 0.7]


def test_confidence_falls_with_age_with_chance_and_with_the_number_of_candidates() -> None:
    today, old = ([Remark("asked", NOW - timedelta(days=back), "", "")] * 3 for back in (0, 28))
    assert confidence(0.0, 1, today, NOW) == 0.88 and confidence(0.0, 1, old, NOW) == 0.41
    by_candidates = [confidence(0.001, count, today, NOW) for count in (1, 10, 30, 1000)]
    assert by_candidates == sorted(by_candidates, reverse=True) and by_candidates[0] > 0.8 > by_candidates[-1] == 0.0
    assert recurrence([], NOW) == 0.0
    assert certainty(0.05) == pytest.approx(0.71, abs=0.01), "the bound of Sellke, Bayarri and Berger"


def test_what_could_not_be_significant_is_not_corrected_for() -> None:
    assert count_testable([0.5] * 100 + [0.001]) == 1
    assert count_testable([0.0001] * 7) == 7 and count_testable([]) == 1


def test_one_tool_that_always_fails_is_found_among_many_that_work() -> None:
    random = Random(5)
    days = [NOW - timedelta(days=random.randrange(20), minutes=number) for number in range(200)]
    calls = [ToolCallMade(at, f"tool{number % 20}", "[[s]]") for number, at in enumerate(days)]
    calls += [ToolCallMade(NOW - timedelta(days=day), "shell", "[[s]]", "permission denied") for day in range(3)]
    found = tool_failures(calls, NOW, "en")
    assert [each.kind for each in found] == ["tool_failure_pattern"] and found[0].confidence > 0.7


def test_the_tails_are_those_of_the_tables() -> None:
    assert poisson_tail(3, 1.0) == pytest.approx(0.0803, abs=1e-4)
    assert poisson_tail(0, 1.0) == 1.0
    assert binomial_tail(8, 10, 0.5) == pytest.approx(0.0547, abs=1e-4)
    assert binomial_tail(900, 1500, 0.5) < 1e-10


def test_failures_are_alike_by_what_does_not_vary() -> None:
    first, other = "cannot open 'a.txt': permission denied", "cannot open 'b/c.md': permission denied\nmore"
    assert reason_kind(first) == reason_kind(other) == "cannot open permission denied"
    assert reason_kind("timed out after 30 s") != reason_kind(first)


@pytest.mark.parametrize(("days", "is_found"), [((0, 1, 2), True), ((1, 1, 1), False)])
def test_a_tool_fails_on_several_days_to_be_a_pattern(days: tuple[int, ...], is_found: bool) -> None:
    calls = tuple(ToolCallMade(NOW - timedelta(days=day), "web_fetch", "[[s]]", "timed out") for day in days)
    assert bool(tool_failures(calls, NOW, "en")) is is_found


def test_a_task_that_was_spoken_of_or_done_elsewhere_is_not_abandoned() -> None:
    box = OpenBox("Return the ladder to Amara", "[[plan]]", NOW - timedelta(days=12))
    assert detect(Activity(NOW, boxes=(box,)), "en")
    assert not detect(Activity(NOW, boxes=(box,), ticked=("return the ladder to Amara",)), "en")
    said = Remark("asked", NOW - timedelta(days=2), "When can I return Amara's ladder?", "[[talk]]")
    assert not detect(Activity(NOW, (said,), boxes=(box,)), "en")
