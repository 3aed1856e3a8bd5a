"""On probation a rule passes or is set aside by its uses; an active one goes when it helps no more."""

from math import ceil, comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.growth.rules.rule import LearnedRule
from agent.growth.rules.uses import GivenRule, RuleRun, load_runs, opinion_row, uses_of
from agent.growth.rules.verdict import DROPPED, LEAST, judge_active, judge_probation
from agent.vault.history.find import commits
from tests.growth.rules.desk import READ, START, Desk, three
from tests.vaults import write

WELL = (True,) * 8
"""The fewest uses with which a rule passes."""


@pytest.fixture
def rule(desk: Desk) -> LearnedRule:
    return desk.admit(*READ)


def test_eight_good_uses_make_it_active(desk: Desk, rule: LearnedRule) -> None:
    desk.use(rule, *WELL[1:])
    assert desk.tend() == () and desk.rule().status == "probation"
    desk.use(rule, True)
    (row,) = desk.tend()
    assert (row.event, row.by) == ("active", "agent") and "8 of 8 runs" in row.why
    after = desk.rule()
    assert after.status == "active" and after.words == rule.words
    commit = commits(desk.vault, limit=1)[0]
    assert {each.path for each in commit.files} == {rule.path, "rules/log.md"}


def test_failures_set_it_aside(desk: Desk, rule: LearnedRule) -> None:
    desk.use(rule, False, False)
    assert desk.tend() == ()
    desk.use(rule, False)
    (row,) = desk.tend()
    assert row.event == "deprecated" and desk.rule().status == "deprecated"
    assert "Only 0 of 3 runs" in row.why


def test_a_correction_of_the_next_day_counts_as_if_it_had_come_at_once(desk: Desk, rule: LearnedRule) -> None:
    desk.use(rule, *WELL)
    desk.tend()
    assert desk.rule().status == "active"
    for use in desk.book.counted(rule)[:3]:
        desk.opine(use.run, rule, "corrected")
    (row,) = desk.tend()
    assert row.event == "deprecated" and desk.rule().status == "deprecated"


def test_a_tick_at_helpful_makes_up_for_a_failure(desk: Desk, rule: LearnedRule) -> None:
    desk.use(rule, False, *WELL[1:])
    for use in desk.book.counted(rule):
        desk.opine(use.run, rule, "helpful")
    desk.tend()
    assert desk.rule().status == "active"


def test_a_run_that_was_stopped_says_nothing() -> None:
    stopped = RuleRun(START, "a", "interrupted", (GivenRule("rules/x.md", "0a1b2c3d"),))
    (use,) = uses_of([stopped]).of("0a1b2c3d")
    assert not use.counts and not use.is_success
    (use,) = uses_of([stopped, opinion_row(START, "a", stopped.rules, "helpful", "")]).of("0a1b2c3d")
    assert use.counts and use.is_success


def test_an_active_rule_that_drops_is_set_aside(desk: Desk, rule: LearnedRule) -> None:
    desk.use(rule, *WELL)
    desk.tend()
    desk.use(rule, *(False,) * 6)
    (row,) = desk.tend()
    assert row.event == "deprecated" and "too few of the last ones" in row.why


def test_a_rule_that_was_set_aside_is_tried_again_when_enough_is_said_for_it(desk: Desk, rule: LearnedRule) -> None:
    desk.use(rule, False, False, False)
    desk.tend()
    desk.learn(*three(*READ, first=20))
    assert "May I try this rule again" in desk.asked()[0]
    desk.answer()
    assert desk.rule().status == "probation" and desk.tend() == ()
    desk.use(rule, *WELL)
    desk.tend()
    assert desk.rule().status == "active"


def test_other_words_begin_anew(desk: Desk, rule: LearnedRule) -> None:
    desk.use(rule, *WELL[1:])
    path = desk.root / rule.path
    write(path, path.read_text().replace("# Read the note before", "# Read the note\n\nOnly read the note before"))
    rows = desk.tend()
    assert [(row.event, row.by) for row in rows] == [("changed", "person")]
    changed = desk.rule()
    assert changed.text.startswith("Only read") and changed.is_persons and desk.book.counted(changed) == ()
    desk.use(changed, True)
    assert desk.tend() == () and desk.rule().status == "probation"


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
    assert (verdict.status == "probation") is is_open
    if verdict.reason == "failed":
        assert sum(first) + uses - len(first) < LEAST * uses + 1e-9
        assert judge_probation([*outcomes, True], uses).reason == "failed"
    if verdict.reason in {"passed", "dropped"}:
        assert sum(first) >= LEAST * uses - 1e-9
    last = outcomes[-uses:]
    if verdict.reason == "passed":
        assert last.count(False) <= uses * (1 - DROPPED) or sum(first) < len(first)


def test_no_use_is_no_verdict() -> None:
    assert judge_probation((), 10).status == "probation" and judge_active((), 10).status == "active"
    assert judge_probation((True,) * 200, 10).status == "active"


OTHER = "Name the source of each figure"


def test_a_bad_rule_does_not_take_another_one_with_it(desk: Desk) -> None:
    good = desk.admit(*READ)
    desk.use(good, *WELL)
    desk.tend()
    bad = desk.admit(OTHER, when="a question is asked")
    desk.use(good, *[False] * 6, beside=[bad])
    rows = desk.tend()
    statuses = {rule.text: rule.status for rule in desk.book.rules}
    assert statuses == {READ[0]: "active", OTHER: "deprecated"}
    assert [row.event for row in rows].count("deprecated") == 1
    (kept,) = (rule for rule in desk.book.rules if rule.status == "active")
    assert len(desk.book.counted(kept)) == 8, "what went wrong with the other one says nothing of it"
    desk.use(kept, *[False] * 6)
    desk.tend()
    assert {rule.status for rule in desk.book.rules} == {"deprecated"}, "what goes wrong without it does"


@pytest.mark.parametrize("before", [(), (False,)])
def test_the_newer_one_goes_first_though_the_older_one_has_failed_before(desk: Desk, before: tuple[bool, ...]) -> None:
    older = desk.admit(*READ)
    desk.use(older, *before)
    newer = desk.admit(OTHER, when="a question is asked")
    desk.use(older, *[False] * 5, beside=[newer])
    desk.tend()
    assert {rule.text: rule.status for rule in desk.book.rules} == {READ[0]: "probation", OTHER: "deprecated"}


def test_what_the_person_ticked_about_a_rule_stays_about_it(desk: Desk) -> None:
    first, second = desk.admit(*READ), desk.admit(OTHER, when="a question is asked")
    for _ in range(5):
        desk.use(first, True, beside=[second])
        run = load_runs(desk.vault)[-1].run
        desk.opine(run, first, "not_helpful")
        desk.opine(run, second, "not_helpful")
    desk.tend()
    assert {rule.status for rule in desk.book.rules} == {"deprecated"}
