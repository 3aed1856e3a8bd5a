"""The prompts of tasks: one for each kind, with tools that exist, and with the answer if there is nothing to do."""

import re
from pathlib import Path

import pytest

from agent.channel_names import OF_JOBS
from agent.context.assemble import choose_tools
from agent.growth.procedures.run import NOTHING
from agent.schedule.procedures import TASK_TYPES
from agent.tools.builtin.jobs import PURPOSE, PlanningTools
from agent.tools.builtin.past import PURPOSES
from agent.tools.tool import RunContext
from tests.growth.work import office

PROMPTS = Path(__file__).parents[2] / "agent/prompts/tasks"
TOOL = re.compile(r"`([a-z]+_[a-z_]+)`")
NO_TOOLS = {"target_file", *TASK_TYPES}
WITH_PROMPT = [kind for kind in TASK_TYPES if kind not in {"explore_topic", "upkeep"}]
"""A topic is explored by `growth.research`, which has prompts of its own; upkeep asks no model."""


def test_each_kind_has_a_prompt() -> None:
    assert {path.stem for path in PROMPTS.glob("*.md")} == set(WITH_PROMPT)


def test_each_tool_that_is_named_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch)
    with made.work.open_runs() as runs:
        plain, known, planning = (
            {spec.name for spec in runs.agent.tools.specs(RunContext("r", "", channel=OF_JOBS, purpose=purpose))}
            for purpose in ("upkeep", "prepare", PURPOSE)
        )
    own = {each.name for each in PlanningTools(made.workspace.vault, made.clock, 100).tools()}
    assert planning - known == own, "the planning tools exist only in a reflection"
    for path in PROMPTS.glob("*.md"):
        named = set(TOOL.findall(path.read_text("utf-8"))) - NO_TOOLS
        assert named <= (planning if path.stem == PURPOSE else known if path.stem in PURPOSES else plain), path.name


@pytest.mark.parametrize("kind", WITH_PROMPT)
def test_each_tool_that_is_named_is_described_in_a_small_window(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, prompt = office(tmp_path, monkeypatch), (PROMPTS / f"{kind}.md").read_text("utf-8")
    with made.work.open_runs() as runs:
        specs = runs.agent.tools.specs(RunContext("r", "", channel=OF_JOBS, purpose=kind), seldom=False)
        chosen = {spec.name for spec in choose_tools(specs, 32_768, runs.agent.count)}
    assert set(TOOL.findall(prompt)) - NO_TOOLS <= chosen


@pytest.mark.parametrize("kind", WITH_PROMPT)
def test_each_prompt_says_what_to_answer_if_there_is_nothing(kind: str) -> None:
    assert f"answer only {NOTHING}" in (PROMPTS / f"{kind}.md").read_text("utf-8")
