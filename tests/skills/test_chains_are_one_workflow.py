"""A chain is checked when it is loaded, and becomes one numbered workflow."""

from pathlib import Path

import pytest

from agent.skills.matching.workflow import compose_workflow
from tests.skills.shelves import library, shelf, skill, text, words

CHAIN = """
chain:
  - skill: research
    input_from: task
    output_as: findings
    params: {depth: full, sources: [web, papers]}
    check: at least five sources
    on_failure: ask
  - skill: briefing
    input_from: [findings, task]
    output_as: brief
  - {skill: slides, input_from: brief, on_failure: skip}
"""
STEPS = [skill("research", body="# R\n\nSearch."), skill("briefing", body="Write."), skill("slides", body="Draw.")]


def test_it_is_numbered_with_inputs_outputs_checks_and_what_to_do_on_failure() -> None:
    own = skill("all", CHAIN, "Do all of it.")
    made = compose_workflow(own, shelf(own, *STEPS).get, 4_000, words).text
    assert made.index("Do all of it.") < made.index("### Step 1: research") < made.index("Search.")
    assert made.index("Search.") < made.index("### Step 2: briefing") < made.index("### Step 3: slides")
    for said in (
        "Start from: `task`",
        "With: depth = full, sources = web, papers",
        "Keep the result as: `findings`",
        "Check before you go on: at least five sources",
        "ask the person",
        "Start from: `findings`, `task`",
        "go on without it",
    ):
        assert said in made


def test_a_chain_in_a_chain_stands_in_its_place() -> None:
    inner = skill("inner", "chain: [research, briefing]", "Inner words.")
    own = skill("all", "chain: [inner, slides]")
    made = compose_workflow(own, shelf(own, inner, *STEPS).get, 4_000, words).text
    steps = [line for line in made.splitlines() if line.startswith("### ")]
    assert steps == ["### Step 1: inner", "### Step 2: research", "### Step 3: briefing", "### Step 4: slides"]
    assert "Inner words." in made


@pytest.mark.parametrize("room", [0, 100, 700, 1_300, 4_000])
def test_the_text_of_a_step_is_whole_or_is_to_be_opened_when_it_is_due(room: int) -> None:
    long = [skill(each.name, body=f"{each.name}first\n\n## More\n\n" + "long " * 500 + each.name) for each in STEPS]
    own = skill("all", "chain: [research, briefing, slides]", "Own words.")
    made = compose_workflow(own, shelf(own, *long).get, room, words)
    assert "Own words." in made.text and all(f"### Step {n}: " in made.text for n in (1, 2, 3))
    for each in long:
        assert (each.body in made.text) != (f"skills, show {each.name}" in made.text) == (each.name in made.on_request)
    assert len(made.on_request) == {0: 3, 100: 3, 700: 2, 1_300: 1, 4_000: 0}[room]
    assert words(made.text) <= max(room, 102)


@pytest.mark.parametrize(
    ("header", "line", "said"),
    [
        ("chain: [nobody]", 4, "names nobody, and there is no such skill"),
        ("chain:\n  - {skill: good, input_from: findings}", 4, "starts from findings, which no step before it gives"),
        ("chain:\n  - {skill: good, output_as: a}\n  - {skill: good, output_as: a}", 4, "given already"),
        ("chain: [bad]", 4, "in a circle: bad → bad"),
        ("license: MIT\nprerequisites: [nobody]", 5, "nobody is no skill"),
        ("prerequisites: [bad]", 4, "in a circle"),
    ],
)
def test_what_cannot_work_is_an_error_at_load(tmp_path: Path, header: str, line: int, said: str) -> None:
    lib = library(tmp_path, {"package/bad/SKILL.md": text("bad", header), "package/good/SKILL.md": text("good")})
    (problem,) = lib.snapshot().problems
    assert list(lib.snapshot().named) == ["good"]
    assert problem.path.endswith("bad/SKILL.md") and problem.line == line and said in problem.reason


def test_circles_through_others_and_chains_over_broken_ones_are_found(tmp_path: Path) -> None:
    chains = {"a": "[b]", "b": "[c]", "c": "[a]", "over": "[a]", "over-that": "[over]", "fine": "[good]"}
    files = {f"package/{name}/SKILL.md": text(name, f"chain: {steps}") for name, steps in chains.items()}
    lib = library(tmp_path, {**files, "package/good/SKILL.md": text("good")})
    assert set(lib.snapshot().named) == {"fine", "good"} and len(lib.snapshot().problems) == 5


def test_chains_that_multiply_are_refused_at_once(tmp_path: Path) -> None:
    files = {
        f"package/s{n}/SKILL.md": text(f"s{n}", f"chain: [{', '.join([f's{n + 1}'] * 20)}]" if n < 30 else "")
        for n in range(31)
    }
    lib = library(tmp_path, files)
    assert set(lib.snapshot().named) == {"s29", "s30"}, "the last chain of twenty steps is allowed"


def test_a_thousand_that_build_on_one_another_take_no_time(tmp_path: Path) -> None:
    files = {f"package/s{n}/SKILL.md": text(f"s{n}", f"prerequisites: [s{n + 1}]") for n in range(300)}
    lib = library(tmp_path, files)
    assert not lib.snapshot().named and len({problem.path for problem in lib.snapshot().problems}) == 300


def test_building_on_more_than_fifty_others_is_refused(tmp_path: Path) -> None:
    files = {f"package/s{n}/SKILL.md": text(f"s{n}", f"prerequisites: [s{n + 1}]" if n < 60 else "") for n in range(61)}
    lib = library(tmp_path, files)
    assert "s60" in lib.snapshot().named and "s0" not in lib.snapshot().named
    assert any("more than 50 other skills" in problem.reason for problem in lib.snapshot().problems)


def test_a_mended_skill_mends_the_chain_over_it(tmp_path: Path) -> None:
    lib = library(tmp_path, {"vault/skills/over/SKILL.md": text("over", "chain: [good]")})
    assert not lib.snapshot().named
    (tmp_path / "vault/skills/good").mkdir()
    (tmp_path / "vault/skills/good/SKILL.md").write_text(text("good"))
    lib.changed(["skills/good/SKILL.md"])
    assert set(lib.snapshot().named) == {"over", "good"}
