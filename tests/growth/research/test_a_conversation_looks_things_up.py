"""A model in a conversation searches the web by the person's engine, and has a topic researched."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.errors import ToolFailed, ToolRetry
from agent.growth.research.research_tools import research_tools
from agent.loop.session import load_session
from agent.tools.tool import RunContext, Tool
from tests.growth.research.study import Study, page, studying, usual
from tests.growth.research.test_a_topic_is_researched import BRIDGE, QUESTIONS
from tests.stories.agents import call, document, script, settings

HERE = RunContext("r1", "sessions/s.md")


def tools(study: Study) -> dict[str, Tool]:
    """The tools of a conversation in the vault of a study, whose researches its model thinks about."""
    found = research_tools(study.made.workspace, lambda: study.runs().__enter__(), study.web.network)
    return {each.name: each for each in found}


def test_the_web_is_searched_and_what_comes_is_a_strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studying(tmp_path, monkeypatch, BRIDGE) as study:
        found = tools(study)["web_search"].perform({"query": "bridge cost"}, HERE)
        assert study.web.queries == ["bridge cost"] and not study.web.fetched
    assert found.text.startswith("1. bridge cost\n   http://arxiv.org/abs/bridge-cost")
    assert found.untrusted == "SearXNG" and "web_fetch reads a page" in found.text


def test_without_an_engine_there_is_no_search_of_the_web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studying(tmp_path, monkeypatch, {}, engine=False) as study, study.runs() as runs:
        names = {each.name for each in runs.agent.tools.specs(HERE)}
        assert set(tools(study)) == {"research"} and "research" in names and "web_search" not in names
        assert not {"research", "web_search"} & {each.name for each in runs.agent.tools.specs(HERE, seldom=False)}


def test_a_research_without_the_web_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studying(tmp_path, monkeypatch, {}, engine=False) as study:
        found = tools(study)["research"].perform({"topic": "Varn bridge"}, HERE)
    assert "No search engine is configured" in found.text and "nothing was found" in found.text


def test_a_research_is_a_note_with_sources_and_taints_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studying(tmp_path, monkeypatch, BRIDGE, usual("bridge", *QUESTIONS)) as study:
        found = tools(study)["research"].perform({"topic": "Varn bridge"}, HERE)
        assert study.made.text("research/Varn bridge.md")
    assert found.text.startswith("report: research/Varn bridge.md; 3 sources") and "arxiv.org" in found.untrusted
    assert "18.4 million crowns" in found.text and [each.path for each in found.sources] == ["research/Varn bridge.md"]
    assert found.is_changed


def test_a_research_is_not_for_guests_nor_for_runs_that_may_not_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with studying(tmp_path, monkeypatch, {"http://one.example/a": page("a", "A.")}) as study:
        for context in (replace(HERE, role="guest"), replace(HERE, writes=("profile/",))):
            with pytest.raises(ToolRetry, match="may not write a report"):
                tools(study)["research"].perform({"topic": "Varn bridge"}, context)
        with pytest.raises(ToolFailed, match="stopped"):
            tools(study)["research"].perform({"topic": "Varn bridge"}, replace(HERE, cancelled=lambda: True))


def test_a_model_searches_the_web_and_after_that_a_research_needs_a_yes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with studying(tmp_path, monkeypatch, BRIDGE) as study:
        said = script(
            tmp_path / "s.json", call("web_search", query="bridge cost"), call("research", topic="Varn bridge"), "Done."
        )
        own = {**settings(tmp_path, said), "VAULT_AGENT_RESEARCH__SEARXNG__BASE_URL": study.web.engine}
        ended = document(study.made.root, own, "ask", "What did the bridge cost?")
        given = [each.text for each in load_session(open_workspace(study.made.root).vault, ended["session"]).history]
        (asked,) = (study.made.root / "approvals").glob("*.md")
    assert ended["outcome"] == "needs_approval" and any('<untrusted source="SearXNG">' in each for each in given)
    assert "research can carry data out" in asked.read_text("utf-8") and not study.web.fetched
