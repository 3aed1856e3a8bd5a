"""Workflows that come back are found among runs that have nothing in common, and little else is."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from agent.skills.learning.learner import RefusedWorkflow, find_suggestions
from agent.skills.learning.sequences import TraceStep, WorkflowTrace, contains, find_workflows
from agent.skills.reading.patterns import Intent, compile_pattern
from agent.skills.reading.skill import Skill, SkillSource, Triggers
from tests.skills.synthetic import history, trace

TEA = ("search_vault", "vault_read", "vault_write")
TOOL = some.sampled_from(["a", "b", "c", "d"])
RUNS = some.lists(some.lists(TOOL, max_size=9).map(tuple), max_size=12)


def tea(number: int = 3, *, succeeded: bool = True) -> list[WorkflowTrace]:
    places = ["Assam", "Yunnan", "Kyoto", "Nilgiri", "Hunan", "Fujian", "Taiwan", "Korea", "Ceylon", "Java"]
    return [
        trace(n, f"write the tasting sheet for tea from {places[n % 10]}", TEA, succeeded=succeeded)
        for n in range(number)
    ]


@pytest.mark.parametrize("seed", range(1, 13))
def test_six_workflows_among_sixty_runs_are_found_and_at_most_one_that_is_none(seed: int) -> None:
    made = history(seed)
    found = {each.tools for each in find_suggestions(made.traces, ())}
    assert set(made.planted) <= found
    assert len(found - set(made.planted)) <= 1


@pytest.mark.parametrize("seed", range(1, 6))
def test_runs_that_have_nothing_in_common_teach_nothing(seed: int) -> None:
    made = history(seed)
    rest = [each for each in made.traces if each.task.isascii() and len(each.task.split()) == 3]
    assert len(find_suggestions(rest, ())) <= 1


def test_the_same_thing_done_three_times_is_offered_and_twice_is_not() -> None:
    assert not find_suggestions(tea(2), ())
    (found,) = find_suggestions(tea(3), ())
    assert (found.tools, found.support, found.success_rate, found.seconds) == (TEA, 3, 1.0, 10.0)
    assert [each.run for each in found.evidence] == ["RUN0000", "RUN0001", "RUN0002"]


def test_two_steps_are_a_workflow_and_one_tool_again_and_again_is_not() -> None:
    twice = [trace(n, f"water the {name} garden", ("vault_read", "vault_edit")) for n, name in enumerate("abc")]
    assert [each.tools for each in find_suggestions(twice, ())] == [("vault_read", "vault_edit")]
    assert not find_suggestions([trace(n, "water the garden", ["vault_read"] * 5) for n in range(5)], ())


def test_a_workflow_that_often_fails_is_not_learned() -> None:
    assert not find_suggestions([*tea(7), *tea(3, succeeded=False)], ()), "seven of ten is not more than 0.7"
    mixed = [replace(each, succeeded=number != 0) for number, each in enumerate(tea(4))]
    assert find_suggestions(mixed, ())[0].success_rate == 0.75


def test_steps_that_failed_are_no_part_of_it() -> None:
    retried = [
        replace(
            each,
            steps=(
                TraceStep("search_vault"),
                TraceStep("web_fetch", failed=True),
                TraceStep("vault_read"),
                each.steps[2],
            ),
        )
        for each in tea(3)
    ]
    assert find_suggestions(retried, ())[0].tools == TEA


@pytest.mark.parametrize(("support", "expected"), [(3, 0), (5, 0), (6, 1)])
def test_what_was_refused_is_offered_again_when_it_has_come_back_twice_as_often(support: int, expected: int) -> None:
    assert len(find_suggestions(tea(support), (), [RefusedWorkflow(TEA, 3)])) == expected


def test_a_part_of_what_was_refused_is_refused_too() -> None:
    assert not find_suggestions(tea(4), (), [RefusedWorkflow((*TEA, "vault_append"), 3)])


def learned(sequence: str, pattern: str = "tea") -> Skill:
    return Skill("tea-sheet", "Tea.", "", SkillSource.LEARNED, "skills/learned/tea-sheet/SKILL.md",
                 triggers=Triggers((Intent((compile_pattern(pattern),)),)),
                 metadata={"sequence": sequence})  # fmt: skip


def written(body: str, pattern: str) -> Skill:
    return Skill("tasting", "Tea.", body, SkillSource.VAULT, "skills/tasting/SKILL.md",
                 triggers=Triggers((Intent((compile_pattern(pattern),)),)))  # fmt: skip


def test_a_workflow_that_a_skill_covers_is_not_offered() -> None:
    tools = "Use `search_vault`, `vault_read` and `vault_write`."
    assert not find_suggestions(tea(4), [learned(",".join(TEA))])
    assert not find_suggestions(tea(4), [written(tools, "tasting sheet")])
    assert find_suggestions(tea(4), [written(tools, "invoices")]), "a skill for something else covers nothing"
    assert find_suggestions(tea(4), [written("Use `web_fetch`.", "tasting sheet")]), "nor does one that works otherwise"


def test_a_longer_workflow_is_offered_as_a_change_to_the_skill_that_was_learned() -> None:
    (found,) = find_suggestions(tea(4), [learned("search_vault,vault_read")])
    assert (found.name, found.changes) == ("tea-sheet", "tea-sheet")
    (other,) = find_suggestions(tea(4), [learned("search_vault,vault_read", "invoices")])
    assert other.changes == ""


def test_nothing_is_named_by_words_that_happen_to_come_back() -> None:
    chinese = [trace(60 + n, f"帮我做一份{name}的项目交接", ("vault_read", "vault_append")) for n, name in
               enumerate(["三月", "上周", "昨天", "杭州"])]  # fmt: skip
    found = find_suggestions([*tea(4), *chinese], ())
    assert len(found) == 2
    assert not any((each.name, each.description, each.patterns) != ("", "", ()) for each in found)
    assert all(
        condition in {each.task for each in (*tea(4), *chinese)} for each in found for condition in each.conditions
    )


@settings(max_examples=60, deadline=None)
@given(runs=RUNS)
def test_what_is_found_is_really_in_the_runs_that_are_named(runs: list[tuple[str, ...]]) -> None:
    found = find_workflows(runs, 3)
    assert len({each.tools for each in found}) == len(found)
    for each in found:
        assert len(each.traces) >= 3
        assert len(each.tools) >= 2
        assert all(contains(runs[number], each.tools) for number in each.traces)


@settings(max_examples=40, deadline=None)
@given(runs=RUNS, order=some.randoms(use_true_random=False))
def test_the_order_of_the_runs_does_not_matter(runs: list[tuple[str, ...]], order: object) -> None:
    assert hasattr(order, "shuffle")
    mixed = list(runs)
    order.shuffle(mixed)
    assert [each.tools for each in find_workflows(mixed, 3)] == [each.tools for each in find_workflows(runs, 3)]


@settings(max_examples=300, deadline=None)
@given(longer=some.lists(TOOL, max_size=8), shorter=some.lists(TOOL, max_size=3))
@example(longer=["a", "c", "b"], shorter=["a", "b"])
@example(longer=["a", "c", "d", "b"], shorter=["a", "b"])
def test_contained_means_with_at_most_one_other_step_in_between(longer: list[str], shorter: list[str]) -> None:
    def by_hand(start: int, wanted: list[str]) -> bool:
        if not wanted:
            return True
        places = range(len(longer)) if start < 0 else range(start + 1, min(start + 3, len(longer)))
        return any(longer[at] == wanted[0] and by_hand(at, wanted[1:]) for at in places)

    assert contains(longer, shorter) == by_hand(-1, shorter)
