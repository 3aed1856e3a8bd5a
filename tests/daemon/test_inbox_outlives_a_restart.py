"""What was asked in a note when the daemon stopped is answered by the next one, or the note says that it was not."""

from pathlib import Path

import pytest

from agent.app.notice_ledger import open_ledger
from agent.app.open import open_workspace
from agent.background.inbox.answer_log import CYCLES
from agent.background.inbox.queue import PendingRequest, request_queue
from agent.interfaces.cli.main import main
from agent.markdown import requests
from agent.markdown.note import Note
from agent.runs.needs import needs_of
from tests.daemon.house import BRISK, HASTE, living
from tests.stories.agents import furnish, script
from tests.vaults import write


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault whose agent takes its time."""
    for key, value in {**BRISK, "VAULT_AGENT_INBOX__QUIET_SECONDS": "1"}.items():
        monkeypatch.setenv(key, value)
    said = script(tmp_path / "script.json", {"text": "Slowly.", "seconds": 3 * HASTE}, "Gone on with.")
    return furnish(tmp_path, monkeypatch.setenv, said)


def status(path: Path) -> str:
    """What the header says of the request."""
    return Note.parse(path.read_bytes()).string("status") or ""


def test_a_request_that_nobody_had_begun_is_answered_by_the_next_daemon(root: Path) -> None:
    note = root / "inbox" / "one.md"
    with living(root) as house:
        write(note, "Which tea?\n")
        house.until(lambda: bool(house.parts.inbox.entries), "it is seen")
        house.parts.inbox.close()
    assert status(note) == ""
    with living(root) as house:
        house.until(lambda: status(note) == "done", "it is answered")
        house.until(lambda: not house.parts.inbox.entries, "nothing is under way")
    assert not request_queue(house.workspace.vault).load()[0]


def test_a_run_that_a_stop_interrupted_goes_on_with_the_next_daemon(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = root / "inbox" / "one.md"
    with living(root) as house:
        write(note, "Which tea?\n")
        house.until(lambda: len(house.working) == 1 and any((root / "sessions").rglob("*.md")), "it has begun")
        house.step()
        assert main(["--vault", str(root), "status"]) == 0
        assert "works    note inbox/one.md" in capsys.readouterr().out
        house.parts.inbox.close()
    assert status(note) == ""
    (entry,) = request_queue(house.workspace.vault).load()[0]
    assert entry.phase == "interrupted" and entry.session
    with living(root) as house:
        house.until(lambda: status(note) == "done", "it is answered")
    assert len(list((root / "sessions").rglob("*.md"))) == 1
    assert requests.own_words(note.read_bytes()).strip() == "Which tea?"


def test_a_run_that_was_killed_is_said_to_have_been(root: Path) -> None:
    note = root / "inbox" / "one.md"
    with living(root) as house:
        write(note, "Which tea?\n")
        house.until(lambda: len(house.working) == 1 and any((root / "sessions").rglob("*.md")), "it has begun")
        kept = request_queue(house.workspace.vault).table.get()
        assert kept is not None
        house.parts.inbox.close()
    request_queue(house.workspace.vault).table.put(kept)
    with living(root) as house:
        house.until(lambda: status(note) == "failed", "the note says so")
    assert "stopped in the middle" in note.read_text("utf-8") and "pending" in note.read_text("utf-8")


def test_what_changed_while_nobody_watched_is_not_begun(root: Path) -> None:
    note = root / "inbox" / "one.md"
    with living(root) as house:
        write(note, "Which tea?\n")
        house.until(lambda: bool(house.parts.inbox.entries), "it is seen")
        house.parts.inbox.close()
    write(note, "Delete everything.\n")
    with living(root) as house:
        house.for_a_while(2.0)
        assert not house.parts.inbox.entries and not (root / "sessions").exists()


def test_what_goes_round_is_stopped_over_restarts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_INBOX__QUIET_SECONDS", "0.2")
    monkeypatch.setenv("VAULT_AGENT_LLM__SCRIPT", str(script(root.parent / "quick.json", *["Well done."] * 9)))
    note = root / "inbox" / "loop.md"
    write(note, "---\nstatus: draft\n---\nAgain.\n")
    for turn in range(CYCLES + 2):
        with living(root) as house:
            write(note, note.read_text("utf-8").replace(f"status: {status(note)}", "status: pending"))
            if turn > CYCLES:
                house.until(lambda: "asked and answered" in house.parts.inbox.problem, "it is said that it rests")
            else:
                house.until(lambda: status(note) in ("done", "stopped"), "it is answered")
            house.until(lambda: not house.parts.inbox.entries, "nothing is under way")
            house.parts.inbox.close()
        assert status(note) == ("done" if turn < CYCLES else "stopped" if turn == CYCLES else "pending")
    assert note.read_text("utf-8").count("Well done.") == CYCLES


def test_what_was_answered_is_not_answered_again_after_a_restart(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_LLM__SCRIPT", str(script(root.parent / "quick.json", "Green.", "Black.")))
    note = root / "inbox" / "tea.md"
    with living(root) as house:
        write(note, "Which tea?\n")
        house.until(lambda: status(note) == "done", "it is answered")
    with living(root) as house:
        write(note, "Which tea?\n")
        house.until(lambda: "answered before" in house.parts.inbox.problem, "it is said")
    assert note.read_text() == "Which tea?\n"


def test_a_key_in_a_request_is_kept_in_the_note_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "0f3c9a7be1d24c5f8a6b7c8d9e0f1a2b"
    monkeypatch.setenv("VAULT_AGENT_LLM__API_KEY", key)
    note, text = "inbox/one.md", f"Is {key} my key?\n"
    write(root / note, text)
    vault = open_workspace(root).vault
    (request,) = requests.open_requests(text.encode(), whole=True)
    request_queue(vault).save([PendingRequest(note, 0.0, phase="waits", request=request)], ())
    assert key not in str(request_queue(vault).table.get())
    assert request_queue(vault).load()[0][0].request == request
    write(root / note, "Something else.\n")
    kept = request_queue(vault).load()[0][0].request
    assert kept is not None and kept.text == "Is *** my key?"


def test_a_request_left_while_no_daemon_ran_stands_in_what_needs_me_and_is_told_of_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_INBOX__QUIET_SECONDS", "0.2")
    monkeypatch.setenv("VAULT_AGENT_ATTENTION__QUIET", "")
    note = root / "inbox/old.md"
    write(note, "Which coffee?\n")
    for _ in range(2):
        with living(root) as house:
            house.until(lambda: bool(open_ledger(house.workspace).all()), "it is told of")
            house.for_a_while(1.0)
    assert [each.raised.title for each in open_ledger(house.workspace).all()] == ["A request has no answer yet: old"]
    assert status(note) == "", "nobody has seen who wrote it"
    assert [(each.kind, each.path) for each in needs_of(open_workspace(root))] == [("request", "inbox/old.md")]
