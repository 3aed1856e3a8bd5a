"""The page of the status names what the person has set up and the agent could not reach."""

import json
from pathlib import Path

import pytest

from agent.runs.reach import note_reach
from agent.texts import Sentence
from tests.interfaces.http.pages.house import open_house


def test_a_server_that_is_away_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_TOOLS__SERVERS", json.dumps({"tickets": {"url": "http://127.0.0.1:9/mcp"}}))
    with open_house(tmp_path) as house:
        assert "tickets" not in house.fetch("/status")
        note_reach(house.workspace, "server", "tickets", Sentence("it ended while it was started"))
        shown = house.fetch("/status")
    assert "tickets cannot be reached since" in shown and "it ended while it was started" in shown
