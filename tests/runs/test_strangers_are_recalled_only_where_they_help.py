"""Text of strangers comes to a run unasked only if it helps by itself, so that other runs are not marked by it."""

from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.context.assemble import Opening
from agent.events.runs import Speaker
from agent.loop.records import RunRequest
from tests.stories.agents import furnish, script, settings, tell
from tests.vaults import write

FOUND = (
    "---\ntype: research\nuntrusted: [http://shop.example/]\n---\n# Prices of a small greenhouse\n\n"
    "A small greenhouse of glass costs between 900 and 1,400 euros. One of foil costs 200 euros.\n"
)
GEFUNDEN = (
    "---\ntype: research\nuntrusted: [http://shop.example/]\n---\n# 青铜器展的预算\n\n青铜器展的预算是八十万元。\n"
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", "Well."))
    write(made / "research/Prices of a small greenhouse.md", FOUND)
    write(made / "research/青铜器展的预算.md", GEFUNDEN)
    write(made / "Family.md", "# Family\n\nAna is my sister. She lives in Oslo, near the harbour.\n")
    tell(made, settings(tmp_path), "reindex")
    return made


def opened(root: Path, task: str) -> Opening:
    with opened_runs(open_workspace(root)) as runs:
        return runs.explain(RunRequest(task, Speaker("cli")))[0]


def said(start: Opening) -> str:
    return "\n".join(each.text for each in start.messages if each.source == "memories")


@pytest.mark.parametrize("task", ["Where does my sister Ana live in Oslo?", "Ana writes from Oslo", "我妹妹住在哪里？"])
def test_a_task_about_the_person_brings_no_research_up(root: Path, task: str) -> None:
    start = opened(root, task)
    assert start.untrusted == () and "euros" not in said(start)


def test_what_is_the_person_s_own_still_comes(root: Path) -> None:
    assert "near the harbour" in said(opened(root, "Where does my sister Ana live in Oslo?"))


@pytest.mark.parametrize("task", ["What does a small greenhouse cost?", "青铜器展的预算是多少？"])
def test_research_comes_where_it_is_about_the_task_and_marks_the_run(root: Path, task: str) -> None:
    start = opened(root, task)
    assert len(start.untrusted) == 1 and "shop.example" in start.untrusted[0] and "<untrusted" in said(start)


def test_with_the_floor_off_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_MEMORY__FLOOR", "off")
    start = opened(root, "Where does my sister Ana live in Oslo?")
    assert start.untrusted == () and "near the harbour" in said(start)
