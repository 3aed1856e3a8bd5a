"""Calls of one reply that need a yes are asked about at once; the run goes on when all are decided, each by itself."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.runs.decisions import ready
from tests.stories.agents import document, furnish, script, settings, ticked

EDIT = {"tool": "vault_edit", "arguments": {"path": "AGENT.md", "old": "Be brief.", "new": "Be kind."}}
PROMPT = {"tool": "vault_write", "arguments": {"path": "prompts/skill.md", "content": "Write."}}
LOG = {"tool": "vault_append", "arguments": {"path": "log.md", "text": "- once"}}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, str], dict[str, object]]:
    """A vault in which one reply wanted three things, and two of them need a yes."""
    root = furnish(tmp_path, monkeypatch.setenv)
    own = settings(tmp_path, script(tmp_path / "s.json", {"calls": [EDIT, LOG, PROMPT]}, "As you like."))
    return root, own, document(root, own, "ask", "keep order")


Asked = tuple[Path, dict[str, str], dict[str, object]]


def waiting(root: Path, own: dict[str, str]) -> dict[str, dict[str, str]]:
    """The open approvals, by tool."""
    return {each["tool"]: each for each in document(root, own, "approvals")["approvals"]}


def test_both_are_asked_about_before_anything_goes_on(asked: Asked) -> None:
    root, own, ended = asked
    both = waiting(root, own)
    assert ended["outcome"] == "needs_approval" and set(both) == {"vault_edit", "vault_write"}
    assert ended["waits_for"] == both["vault_edit"]["path"] and both["vault_write"]["path"] in str(ended["reason"])
    assert not (root / "log.md").exists() and "Be brief." in (root / "AGENT.md").read_text()


@pytest.mark.parametrize("first", ["vault_edit", "vault_write"])
def test_the_run_goes_on_when_the_last_one_is_decided(asked: Asked, first: str) -> None:
    root, own, _ = asked
    both = waiting(root, own)
    (second,) = both.keys() - {first}
    answers = {"vault_edit": "yes", "vault_write": "no"}
    once = document(root, own, "approvals", answers[first], both[first]["id"], "--go-on")
    assert once["goes_on"] == "nobody" and "Be brief." in (root / "AGENT.md").read_text()
    ended = document(root, own, "approvals", answers[second], both[second]["id"], "--go-on")
    assert ended["goes_on"] == "here" and ended["run_ended"]["answer"] == "As you like."
    assert "Be kind." in (root / "AGENT.md").read_text() and (root / "log.md").read_text() == "- once\n"
    assert not (root / "prompts/skill.md").exists()
    (session,) = (root / "sessions").rglob("*.md")
    assert "the person said no" in session.read_text() and waiting(root, own) == {}


def test_ticks_in_both_notes_make_it_ready(asked: Asked) -> None:
    root, own, _ = asked
    workspace = open_workspace(root)
    for number, each in enumerate(waiting(root, own).values()):
        assert [mark.waits_for for mark in ready(workspace)] == []
        note = root / each["path"]
        note.write_text(ticked(note.read_text("utf-8"), "approve" if number else "reject"), "utf-8")
    assert len(ready(workspace)) == 1
