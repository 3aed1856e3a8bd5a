"""A chat from a pipe: each line is a message, the words with a slash work, a failure ends it."""

import json
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.loop.session import sessions
from tests.stories.agents import call, furnish, script, settings, tell


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with a person and three notes."""
    return furnish(tmp_path, monkeypatch.setenv)


def test_each_line_is_a_message_in_one_session(root: Path, tmp_path: Path) -> None:
    own = settings(
        tmp_path, script(tmp_path / "s.json", call("vault_append", path="log.md", text="one"), "Kept.", "No.")
    )
    said = tell(root, own, "chat", said="keep one\n\nis there more?\n/log\n/undo\n/undo\n/context\n")
    assert said.startswith("Kept.\nNo.\n") and "session: finished: keep one\n          created: log.md\n" in said
    assert "is there more" not in said, "what changed no note is no change"
    assert not (root / "log.md").exists(), "/undo did nothing"
    assert "there is nothing to take back" in said and "together" in said
    assert len(sessions(open_workspace(root).vault)) == 1


def test_a_chat_goes_on_where_there_is_nothing_to_go_on_with(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", "First.", "Second."))
    said = tell(root, own, "chat", said="/continue\none\n/continue\ntwo\n")
    nothing = "there is nothing to go on with"
    assert said.splitlines() == [nothing, "First.", nothing, "Second."]


def test_resume_goes_on_in_the_last_session_and_a_stale_one_is_over(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", "First.", "Second.", "Third."))
    assert tell(root, own, "chat", said="one\n") == "First.\n"
    assert tell(root, own, "chat", "--resume", said="two\n") == "Second.\n"
    assert len(sessions(open_workspace(root).vault)) == 1
    stale = {**own, "VAULT_AGENT_RUN__STALE_HOURS": "0"}
    assert tell(root, stale, "chat", "--resume", said="three\n") == "First.\n", "the stale session went on"
    assert len(sessions(open_workspace(root).vault)) == 2


def test_a_document_for_each_message_with_json(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", "First.", "Second."))
    lines = tell(root, own, "--json", "chat", said="one\ntwo\n").splitlines()
    assert [json.loads(line)["answer"] for line in lines] == ["First.", "Second."]


def test_a_failure_ends_it_with_its_exit_code(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", {"error": "retryable", "message": "busy", "times": 0}))
    assert "First" not in tell(root, own, "chat", said="one\ntwo\n", code=75)


def test_compact_puts_a_summary_in_place(root: Path, tmp_path: Path) -> None:
    long = "tea " * 400
    replies = [f"{long}{number}" for number in range(8)]
    own = settings(tmp_path, script(tmp_path / "s.json", *replies, {"when": "summary", "text": "They spoke of tea."}))
    said = tell(root, own, "chat", said="".join(f"say {n} {long}\n" for n in range(8)) + "/compact\n")
    assert "a summary stands in for" in said
    assert any("-summary-" in path for path in sessions(open_workspace(root).vault))


def test_a_run_that_a_limit_stopped_does_not_end_the_chat_but_its_exit_code_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    again = call("vault_read", path="gone.md")
    own = settings(tmp_path, script(tmp_path / "s.json", *[again] * 4, "Hello again."))
    assert "Hello again." in tell(root, own, "chat", said="read it\nhello\n", code=1)
