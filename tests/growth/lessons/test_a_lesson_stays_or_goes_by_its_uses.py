"""On probation a rule passes or is set aside by its uses; an active one goes when it helps no more."""

from math import ceil, comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.growth.lessons.lesson import Lesson
from agent.growth.lessons.uses import LessonRun, UsedLesson, load_runs, opinion_row, uses_of
from agent.growth.lessons.verdict import DROPPED, LEAST, judge_active, judge_probation
from agent.vault.history.find import commits
from tests.growth.lessons.desk import READ, START, Desk, three

WELL = (True,) * 8
"""The fewest uses with which a rule passes."""


@pytest.fixture
def rule(desk: Desk) -> Lesson:
    return desk.admit(*READ)


def test_eight_good_uses_make_it_active(desk: Desk, rule: Lesson) -> None:
    desk.use(rule, *WELL[1:])
    assert desk.tend() == () and desk.lesson().state == "probation"
    desk.use(rule, True)
    (row,) = desk.tend()
    assert (row.event, row.by) == ("active", "agent") and "8 of 8 runs" in row.why
    after = desk.lesson()
    assert after.state == "active" and after.words == rule.words
    commit = commits(desk.vault, limit=1)[0]
    assert {each.path for each in commit.files} == {"lessons.md", "lessons/log.md"}


def test_failures_set_it_aside(desk: Desk, rule: Lesson) -> None:
    desk.use(rule, False, False)
    assert desk.tend() == ()
    desk.use(rule, False)
    (row,) = desk.tend()
    assert row.event == "deprecated" and desk.lesson().state == "deprecated"
    assert "Only 0 of 3 runs" in row.why


def test_a_correction_of_the_next_day_counts_as_if_it_had_come_at_once(desk: Desk, rule: Lesson) -> None:
    desk.use(rule, *WELL)
    desk.tend()
    assert desk.lesson().state == "active"
    for use in desk.book.counted(rule)[:3]:
        desk.opine(use.run, rule, "corrected")
    (row,) = desk.tend()
    assert row.event == "deprecated" and desk.lesson().state == "deprecated"


def test_a_tick_at_helpful_makes_up_for_a_failure(desk: Desk, rule: Lesson) -> None:
    desk.use(rule, False, *WELL[1:])
    for use in desk.book.counted(rule):
        desk.opine(use.run, rule, "helpful")
    desk.tend()
    assert desk.lesson().state == "active"


def test_a_run_that_was_stopped_says_nothing() -> None:
    stopped = LessonRun(START, "a", "interrupted", (UsedLesson("lessons#^l-0a1b2c3d", "0a1b2c3d"),))
    (use,) = uses_of([stopped]).get("0a1b2c3d", ())
    assert not use.counts and not use.is_success
    (use,) = uses_of([stopped, opinion_row(START, "a", stopped.lessons, "helpful", "")]).get("0a1b2c3d", ())
    assert use.counts and use.is_success


def test_an_active_rule_that_drops_is_set_aside(desk: Desk, rule: Lesson) -> None:
    desk.use(rule, *WELL)
    desk.tend()
    desk.use(rule, *(False,) * 6)
    (row,) = desk.tend()
    assert row.event == "deprecated" and "too few of the last ones" in row.why


def test_a_rule_that_was_set_aside_is_tried_again_when_enough_is_said_for_it(desk: Desk, rule: Lesson) -> None:
    desk.use(rule, False, False, False)
    desk.tend()
    desk.learn(*three(*READ, first=20))
    assert "May I try this rule again" in desk.asked()[0]
    desk.answer()
    assert desk.lesson().state == "probation" and desk.tend() == ()
    desk.use(rule, *WELL)
    desk.tend()
    assert desk.lesson().state == "active"


def test_other_words_begin_anew(desk: Desk, rule: Lesson) -> None:
    desk.use(rule, *WELL[1:])
    desk.edit("Read the note before", "Only read the note before")
    rows = desk.tend()
    assert [(row.event, row.by) for row in rows] == [("changed", "person")]
    changed = desk.lesson()
    assert changed.text.startswith("Only read") and changed.is_persons and desk.book.counted(changed) == ()
    desk.use(changed, True)
    assert desk.tend() == () and desk.lesson().state == "probation"


def chance(rate: float, uses: int = 10) -> float:
    """How likely a rule with which this share of runs goes well passes."""
    wins = range(ceil(LEAST * uses), uses + 1)
    return sum(comb(uses, each) * rate**each * (1 - rate) ** (uses - each) for each in wins)


def test_the_error_rates_are_those_that_are_stated() -> None:
    assert [round(100 * chance(rate)) for rate in (0.5, 0.9, 0.95)] == [5, 93, 99]


@given(st.lists(st.booleans(), max_size=40), st.integers(8, 20))
def test_the_verdict_on_probation_is_that_of_all_its_uses_and_stands(outcomes: list[bool], uses: int) -> None:
    verdict = judge_probation(outcomes, uses)
    first = outcomes[:uses]
    is_open = len(first) < uses and ceil(LEAST * uses) - (uses - len(first)) <= sum(first) < ceil(LEAST * uses)
    assert (verdict.state == "probation") is is_open
    if verdict.reason == "failed":
        assert sum(first) + uses - len(first) < LEAST * uses + 1e-9
        assert judge_probation([*outcomes, True], uses).reason == "failed"
    if verdict.reason in {"passed", "dropped"}:
        assert sum(first) >= LEAST * uses - 1e-9
    last = outcomes[-uses:]
    if verdict.reason == "passed":
        assert last.count(False) <= uses * (1 - DROPPED) or sum(first) < len(first)


def test_no_use_is_no_verdict() -> None:
    assert judge_probation((), 10).state == "probation" and judge_active((), 10).state == "active"
    assert judge_probation((True,) * 200, 10).state == "active"


OTHER = "Name the source of each figure"


def test_a_bad_rule_does_not_take_another_one_with_it(desk: Desk) -> None:
    good = desk.admit(*READ)
    desk.use(good, *WELL)
    desk.tend()
    bad = desk.admit(OTHER, when="a question is asked")
    desk.use(good, *[False] * 6, beside=[bad])
    rows = desk.tend()
    statuses = {rule.text: rule.state for rule in desk.book.lessons}
    assert statuses == {READ[0]: "active", OTHER: "deprecated"}
    assert [row.event for row in rows].count("deprecated") == 1
    (kept,) = (rule for rule in desk.book.lessons if rule.state == "active")
    assert len(desk.book.counted(kept)) == 8, "what went wrong with the other one says nothing of it"
    desk.use(kept, *[False] * 6)
    desk.tend()
    assert {rule.state for rule in desk.book.lessons} == {"deprecated"}, "what goes wrong without it does"


@pytest.mark.parametrize("before", [(), (False,)])
def test_the_newer_one_goes_first_though_the_older_one_has_failed_before(desk: Desk, before: tuple[bool, ...]) -> None:
    older = desk.admit(*READ)
    desk.use(older, *before)
    newer = desk.admit(OTHER, when="a question is asked")
    desk.use(older, *[False] * 5, beside=[newer])
    desk.tend()
    assert {rule.text: rule.state for rule in desk.book.lessons} == {READ[0]: "probation", OTHER: "deprecated"}


def test_what_the_person_ticked_about_a_rule_stays_about_it(desk: Desk) -> None:
    first, second = desk.admit(*READ), desk.admit(OTHER, when="a question is asked")
    for _ in range(5):
        desk.use(first, True, beside=[second])
        run = load_runs(desk.vault)[-1].run
        desk.opine(run, first, "not_helpful")
        desk.opine(run, second, "not_helpful")
    desk.tend()
    assert {rule.state for rule in desk.book.lessons} == {"deprecated"}
