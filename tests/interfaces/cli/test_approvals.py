"""What waits is listed, shown and decided by its id, its end, or its note; nothing is decided twice or by accident."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.loop.session import load_session
from agent.runs.registry import run_registry
from tests.stories.agents import call, document, furnish, only, script, settings, tell, ticked
from tests.vaults import git

CHANGE = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long.")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with a person and three notes."""
    return furnish(tmp_path, monkeypatch.setenv)


@pytest.fixture
def own(tmp_path: Path) -> dict[str, str]:
    """A machine whose agent wants to change AGENT.md."""
    return settings(tmp_path, script(tmp_path / "s.json", CHANGE, "As you like."))


def test_an_approval_is_found_by_the_end_of_its_id_and_decided_once(root: Path, own: dict[str, str]) -> None:
    assert tell(root, own, "approvals") == "nothing waits for your yes\n"
    asked = document(root, own, "ask", "change")
    (listed,) = document(root, own, "approvals")["approvals"]
    code = listed["id"][-6:].lower()
    assert code in tell(root, own, "approvals") and "+Be long." in tell(root, own, "approvals", "show", code)
    decided = document(root, own, "approvals", "no", code, "--reason", "stay brief")
    assert decided["status"] == "rejected" and decided["goes_on"] == "later"
    again = document(root, own, "approvals", "yes", listed["id"], code=2)
    assert "rejected already" in again["error"]["message"]
    note = (root / listed["path"]).read_text()
    assert "- [x] reject" in note and "- [ ] approve" in note and "stay brief" in note
    ended = document(root, own, "ask", "--resume", asked["session"])
    assert ended["answer"] == "As you like." and "Be brief." in (root / "AGENT.md").read_text()


@pytest.mark.parametrize("name", ["nothing", "abc", "approvals/none.md"])
def test_an_id_that_is_none_is_said(root: Path, own: dict[str, str], name: str) -> None:
    document(root, own, "ask", "change")
    assert "nothing that waits here" in document(root, own, "approvals", "yes", name, code=2)["error"]["message"]
    assert len(document(root, own, "approvals")["approvals"]) == 1


def test_a_tick_in_the_note_counts_when_the_run_is_taken_up_by_hand(root: Path, own: dict[str, str]) -> None:
    asked = document(root, own, "ask", "change")
    note = only(list((root / "approvals").glob("*.md")))
    note.write_text(ticked(note.read_text(), "approve"))
    assert document(root, own, "ask", "--resume", asked["session"])["outcome"] == "finished"
    assert "Be long." in (root / "AGENT.md").read_text()


def test_a_new_message_in_a_waiting_session_does_not_carry_out_what_waited(root: Path, own: dict[str, str]) -> None:
    asked = document(root, own, "ask", "change")
    ended = document(root, own, "ask", "--session", asked["session"], "forget it")
    assert ended["outcome"] == "finished" and ended["session"] == asked["session"]
    assert "not carried out" in (root / asked["session"]).read_text()
    document(root, own, "approvals", "yes", asked["waits_for"], "--go-on")
    assert "Be brief." in (root / "AGENT.md").read_text()
    assert "approval(approved): May I change AGENT.md?\n" in git(root, "log", "--format=%s")


def test_only_one_process_is_in_a_session(root: Path, own: dict[str, str]) -> None:
    asked = document(root, own, "ask", "change")
    vault = open_workspace(root).vault
    with run_registry(vault).held(load_session(vault, asked["session"]).id):
        refused = document(root, own, "ask", "--session", asked["session"], "more", code=75)
        assert "another process" in refused["error"]["message"]
