"""`reflect` looks back at the last run or a day, and says what it wrote and where."""

import os
from pathlib import Path

import pytest

from tests.growth.reflections.desk import JUDGES, READS, desk, failing, says
from tests.stories.agents import document, tell


def test_the_last_run_is_reflected_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = desk(tmp_path, monkeypatch, says(JUDGES), *failing())
    made.ask("Read the note")
    last = made.ask("Read it again")
    own = own_settings()
    found = document(made.root, own, "reflect")
    assert found["ok"] is True and found["path"].endswith("-reflections.md")
    reflection = found["reflection"]
    assert reflection["runs"] == [last.run] and reflection["trigger"] == "task"
    assert reflection["strategies"][0] == {
        "strategy": "Search for a note before you read it.", "when": "a note is not found",
        "effect": "no failing reads", "confidence": "high", "severity": "low", "restricts": False,
    }  # fmt: skip
    text = tell(made.root, own, "reflect")
    assert "**Went wrong** (tool): The note has another name." in text and "%%" not in text and "[ ]" not in text
    assert f"in {found['path']}" in text


def test_a_day_is_reviewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = desk(tmp_path, monkeypatch, says(JUDGES), READS, "No.")
    made.ask("Read the note")
    found = document(made.root, own_settings(), "reflect", "--day", "2026-11-21")
    assert found["reflection"]["trigger"] == "day" and found["reflection"]["strategies"]


def test_what_cannot_be_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = desk(tmp_path, monkeypatch, says(JUDGES), "Four.")
    own = own_settings()
    assert document(made.root, own, "reflect", code=2)["error"]["message"] == "no run is over yet"
    made.ask("Look back", job="task/01J", purpose="cleanup")  # on the agent's own work nothing is reflected
    assert document(made.root, own, "reflect", code=2)["error"]["message"] == "no run is over yet"
    error = document(made.root, own, "reflect", "--day", "2020-01-01", code=2)["error"]
    assert error["message"] == "no run ended on 2020-01-01"


def test_without_money_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = desk(tmp_path, monkeypatch, says(JUDGES), "Four.")
    made.ask("When is tea?")
    own = {**own_settings(), "VAULT_AGENT_SPEND__JOBS_TOKENS": "1"}
    assert document(made.root, own, "reflect", code=2)["error"]["message"].startswith(
        "the model is not asked: the next call"
    )
    assert made.reflections == ()


def own_settings() -> dict[str, str]:
    """The settings that the desk has put into this process."""
    return {name: value for name, value in os.environ.items() if name.startswith("VAULT_AGENT_")}
