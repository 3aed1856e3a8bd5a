"""Runs, recalls and memories of real commands are in the figures and, at debug, in the log; a note's text is not."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stories.agents import call, document, furnish, script, settings, tell

SISTER = "My sister Ana lives in Porto."
KEY = "sk-ant-api03-" + "q7Xv2LmP" * 6


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv)


def own(folder: Path, *replies: object) -> dict[str, str]:
    return settings(folder, script(folder / "script.json", *replies))


def figures(root: Path, machine: dict[str, str]) -> dict[str, Any]:
    counted = document(root, machine, "metrics")
    return {each["name"]: each["value"] for each in counted["figures"]} | counted


def test_a_day_of_talking_is_counted_as_it_went(root: Path, tmp_path: Path) -> None:
    machine = own(tmp_path, *["Noted."] * 4)
    for task in (
        SISTER,
        "What is two plus two?",
        "Which green tea is for my morning?",
        "My sister Ana lives in Porto!",
    ):
        document(root, machine, "ask", task)
    found = figures(root, machine)
    assert (found["recalls"], found["that gave something"]) == (4, 25)
    assert 0 < found["time, 95th percentile"] < 10_000
    assert (found["entries captured"], found["known already"], found["refused"]) == (1, 1, 0)
    assert 5 <= found["tokens each"] <= 20
    assert found["outcomes"] == {"finished": 4}
    assert {"capture", "skills", "refresh", "metrics"} <= set(found["handlers"])


def test_a_correction_counts_as_replacing(root: Path, tmp_path: Path) -> None:
    first = [{"number": 1, "kind": "self", "quote": "my phone number is 5550100"}]
    then = [{"do": "update", "key": "K1", **first[0], "quote": "my phone number is 5550199"}]
    for facts in (first, then):
        keeps = {"text": json.dumps(facts), "when": "You keep the memory of one person"}
        machine = own(tmp_path, "Noted.", keeps)
        document(root, machine, "ask", f"Well, {facts[0]['quote']}.")
    found = figures(root, machine)
    assert (found["entries captured"], found["replacing an older one"]) == (2, 1)


def test_what_the_model_found_in_a_conversation_is_counted_too(root: Path, tmp_path: Path) -> None:
    said = json.dumps([{"number": 1, "kind": "person", "quote": "the Mahlers upstairs got a parrot"}])
    machine = own(tmp_path, "Noted.", {"text": said, "when": "You keep the memory of one person"})
    document(root, machine, "ask", "My boat is blue. You know, the Mahlers upstairs got a parrot.")
    assert figures(root, machine)["entries captured"] == 1, "the quote, and nothing beside it"


def test_a_call_that_the_policy_denies_is_counted_apart(root: Path, tmp_path: Path) -> None:
    wants = [call("vault_write", path="a.md", content="x"), call("no_such_tool"), "Sorry."]
    machine = own(tmp_path, *wants)
    document(root, machine, "ask", "--as", "ben", "Write a note")
    found = figures(root, machine)
    assert (found["calls denied by the policy"], found["denied"]) == (1, {"vault_write": 1})
    assert found["failed"] == {"vault_write": 1, "no_such_tool": 1}


def test_the_end_of_a_chat_sums_up_the_day_and_counts_it(root: Path, tmp_path: Path) -> None:
    machine = own(tmp_path, call("vault_read", path="tea.md"), "Green tea.")
    tell(root, machine, "remember", "the tea is green")
    tell(root, machine, "chat", said="What tea do I drink?\n")
    assert figures(root, machine)["daily summaries"] == 1


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """The lines that memory logs, from debug on."""

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    lines: list[str] = []
    logger, handler = logging.getLogger("agent.memory"), Lines()
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield lines
    logger.setLevel(logging.NOTSET)
    logger.removeHandler(handler)


def test_a_recall_and_a_capture_are_one_line_each_without_a_secret_or_a_note(
    root: Path, tmp_path: Path, logged: list[str]
) -> None:
    machine = own(tmp_path, "Noted.", "Noted.")
    document(root, machine, "ask", SISTER)
    logged.clear()
    document(root, machine, "recall", f"Where does my sister\nAna live? {KEY}")
    document(root, machine, "ask", SISTER)
    asked, given, kept = logged
    assert "1 given (entries/" in asked, "the key is no word of the question"
    assert asked.startswith("recall: 'Where does my sister Ana live? [secret]': ") and " ms" in asked
    assert given.startswith("recall: ") and "0 given (none)" in given, "the conversation begins with it"
    assert (
        kept.startswith("capture: sessions/") and "kept nothing; known entries/" in kept and "refused nothing" in kept
    )
    assert "\n" not in "".join(logged) and "sk-ant" not in "".join(logged) and SISTER not in kept


def test_what_comes_up_in_the_middle_of_a_run_is_a_line_without_the_words_that_brought_it_up(
    root: Path, tmp_path: Path, logged: list[str]
) -> None:
    (root / "leg.md").write_text("Clara lives in Lisbon.\n")
    machine = own(tmp_path, *[call("vault_read", path="leg.md")] * 2, call("vault_list"), "Planned.")
    document(root, machine, "remember", "Clara lives in Lisbon, near the river.")
    document(root, machine, "ask", "Plan the week")
    (line,) = [each for each in logged if each.startswith("recall: 'step 4 of run ")]
    assert "1 given" in line and "Clara" not in line
