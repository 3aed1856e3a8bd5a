"""`ask` prints one document, or the answer; how it ended decides the exit code."""

import shlex
import sys
from io import StringIO
from pathlib import Path

import pytest

from tests.interfaces.cli.terminal import terminal
from tests.stories.agents import call, document, furnish, script, settings, tell

WAITS = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long.")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with a person and three notes."""
    return furnish(tmp_path, monkeypatch.setenv)


def test_the_document_names_all_that_happened(root: Path, tmp_path: Path) -> None:
    read, write = call("vault_read", path="tea.md"), call("vault_append", path="log.md", text="tea")
    found = document(root, settings(tmp_path, script(tmp_path / "s.json", read, write, "Done.")), "ask", "note it")
    assert found["ok"] is True and found["answer"] == "Done." and found["outcome"] == "finished"
    assert (root / found["session"]).is_file() and len(found["commits"]) == 1
    assert {"path": "tea.md", "lines": [1, 3]} in found["sources"]
    assert found["spend"]["calls"] == 3 and found["spend"]["input_tokens"] > 0
    assert found["run"] in (root / found["session"]).read_text()


def test_continue_goes_on_with_the_last_talk(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", "Green.", "Black.", "Both."))
    assert (
        document(root, own, "ask", "--continue", "and?", code=2)["error"]["message"] == "there is no talk to go on with"
    )
    document(root, own, "ask", "which tea?")
    last = document(root, own, "ask", "and which coffee?")["session"]
    assert document(root, own, "ask", "-c", "and now?")["session"] == last
    assert (root / last).read_text().count("### ") == 4
    assert "names none" in document(root, own, "ask", "-c", "--session", last, "so?", code=2)["error"]["message"]


def test_into_a_pipe_goes_the_answer_alone(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", {**call("vault_list"), "text": "Looking."}, "Three notes."))
    assert tell(root, own, "ask", "how many?") == "Three notes.\n"


def test_without_a_model_it_quotes_and_says_so(root: Path, tmp_path: Path) -> None:
    found = document(root, settings(tmp_path), "ask", "when is green tea?")
    assert found["outcome"] == "finished" and "Green tea in the morning." in found["answer"]
    assert "[[tea" in found["answer"] and "No language model is configured" in found["answer"]
    assert found["spend"]["calls"] == 0


@pytest.mark.parametrize(("error", "code"), [("retryable", 75), ("permanent", 2), ("key", 2)])
def test_a_run_that_failed_exits_as_its_error_and_names_its_session(
    root: Path, tmp_path: Path, error: str, code: int
) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", {"error": error, "message": "no", "times": 0}))
    found = document(root, own, "ask", "hello", code=code)
    assert found["ok"] is False and found["outcome"] == "failed" and found["error"]["message"] == "no"
    assert found["session"] in found["error"]["hint"] and (root / found["session"]).is_file()


def test_waiting_is_an_answer_and_not_a_failure(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", WAITS, "Done."))
    found = document(root, own, "ask", "change")
    assert found["outcome"] == "needs_approval" and (root / found["waits_for"]).is_file()
    assert "Be brief." in (root / "AGENT.md").read_text()
    again = document(root, own, "ask", "--resume", found["session"])
    assert again["waits_for"] == found["waits_for"], "the same call was asked about twice"
    decided = document(root, own, "approvals", "yes", found["waits_for"], "--go-on")
    assert decided["goes_on"] == "here" and decided["run_ended"]["outcome"] == "finished"
    assert len(decided["run_ended"]["commits"]) == 1 and "Be long." in (root / "AGENT.md").read_text()
    assert document(root, own, "ask", "--resume", found["session"], code=2)["ok"] is False


def test_the_command_that_goes_on_can_be_copied(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", {"error": "interrupted"}))
    with terminal(root, own, "ask", "how many notes?") as person:
        person.ends()
    (line,) = [line for line in person.seen.splitlines() if line.startswith("go on with: vault-agent ")]
    own = settings(tmp_path, script(tmp_path / "s.json", "Three."))
    assert tell(root, own, *shlex.split(line.partition("vault-agent ")[2])) == "Three.\n"


def test_tools_are_shown_on_a_terminal(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", {**call("vault_list"), "text": "Looking."}, "Three notes."))
    with terminal(root, own, "ask", "how many?") as person:
        assert person.ends() == 0
    shown = [line.strip() for line in person.seen.splitlines() if line.strip()]
    assert shown[:3] == ["Looking.", "· vault_list", "Three notes."]


def test_nothing_asked_says_what_to_type(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO(""))
    assert "ask" in document(root, settings(tmp_path), "ask", code=2)["error"]["hint"]
    assert document(root, settings(tmp_path), "ask", "   ", code=2)["ok"] is False


def test_a_session_that_is_none_is_said(root: Path, tmp_path: Path) -> None:
    found = document(root, settings(tmp_path), "ask", "--session", "tea.md", "and?", code=2)
    assert "not a session" in found["error"]["message"]


def test_the_budget_is_explained_without_asking_a_model(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", {"error": "permanent", "times": 0}))
    found = document(root, own, "context", "--explain", "green tea")
    assert {row["part"] for row in found["rows"]} >= {"memories", "system", "history", "tools"}
    assert [receipt["path"] for receipt in found["receipts"]][0] == "tea.md"
    assert "together" in tell(root, own, "context", "--explain", "green tea")
    assert not (root / "sessions").exists()


def test_small_talk_is_given_nothing_and_that_is_said(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path)
    for task in ("Thanks!", "谢谢，辛苦了！"):
        found = document(root, own, "context", "--explain", task)
        assert found["receipts"] == []
        assert found["absent"] == ["memories: small talk brings nothing up (memory.small_talk)"]
    assert "not given, memories: small talk brings" in tell(root, own, "context", "--explain", "Thanks!")
    found = document(
        root,
        {**own, "VAULT_AGENT_MEMORY__SMALL_TALK": "true", "VAULT_AGENT_MEMORY__FLOOR": "off"},
        "context",
        "--explain",
        "Thanks!",
    )
    assert found["absent"] == [] and found["receipts"], "the best there are, whatever they are"


def test_calls_that_a_stranger_has_put_into_a_session_are_not_carried_out(root: Path, tmp_path: Path) -> None:
    ask = {"tool": "human_ask", "arguments": {"question": "Which tea?", "options": ["green"]}}
    note = {"tool": "vault_append", "arguments": {"path": "log.md", "text": "as agreed"}}
    own = settings(tmp_path, script(tmp_path / "s.json", {"calls": [ask, note]}, "Fine."))
    asked = document(root, own, "ask", "change")
    path = root / asked["session"]
    path.write_text(path.read_text().replace("as agreed", "as a stranger wants"))
    ended = document(root, own, "ask", "--resume", asked["session"])
    assert ended["outcome"] == "finished" and not (root / "log.md").exists()
    assert "not carried out now, and perhaps before" in path.read_text()


AGAIN = call("vault_read", path="gone.md")


def test_a_run_stopped_by_repetition_is_a_check_that_found_something(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", *[AGAIN] * 9))
    found = document(root, own, "ask", "read it", code=1)
    assert found["ok"] is True and found["outcome"] == "limit" and "\n" not in found["reason"]
    assert found["reason"].startswith('vault_read "gone.md" failed 3 times in the same way')
    assert "ask again in other words" in found["hint"]


def test_any_limit_exits_with_one_since_the_answer_is_not_whole(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", call("vault_list"), "Done."))
    for limit in ("RUN__TOOL_CALLS", "SPEND__DAILY_TOKENS"):
        assert document(root, {**own, f"VAULT_AGENT_{limit}": "0"}, "ask", "look", code=1)["outcome"] == "limit"


def test_a_run_that_is_resumed_after_a_yes_exits_as_it_ends(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", WAITS, *[AGAIN] * 9))
    asked = document(root, own, "ask", "change")
    decided = document(root, own, "approvals", "yes", asked["waits_for"], "--go-on", code=1)
    assert decided["run_ended"]["outcome"] == "limit"


def test_a_note_whose_request_met_a_limit_exits_with_one(root: Path, tmp_path: Path) -> None:
    (root / "inbox").mkdir(exist_ok=True)
    (root / "inbox" / "ask.md").write_text("Read it\n")
    own = settings(tmp_path, script(tmp_path / "s.json", *[AGAIN] * 9))
    (answer,) = document(root, own, "run", "inbox/ask.md", code=1)["answers"]
    assert answer["outcome"] == "limit"


def test_of_a_question_that_is_repeated_only_its_persons_words_are_kept(root: Path, tmp_path: Path) -> None:
    asks = call("human_ask", question="Where do you live?")
    own = settings(tmp_path, script(tmp_path / "s.json", *[asks] * 5, "Good."))
    asked = document(root, own, "ask", "ask where I live")
    ended = document(root, own, "questions", "answer", asked["waits_for"], "I live in Porto", "--go-on")["run_ended"]
    session = (root / asked["session"]).read_text("utf-8")
    assert ended["outcome"] == "finished" and session.count("human_ask") >= 5
    kept = "".join(each.read_text("utf-8") for each in (root / "entries").rglob("*.md"))
    assert "I live in Porto" in kept and "same result" not in kept and "same result" not in session
