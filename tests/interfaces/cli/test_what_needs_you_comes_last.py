"""Below an answer, what the person has to know or do stands last, with the command."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.asking.codes import codes_by_path
from agent.interfaces.cli.run_report import remarks
from agent.loop.outcome import Ended, RunOutcome
from agent.workspace.workspace import Workspace
from tests.stories.agents import call, document, furnish, script, settings, tell
from tests.vaults import write

NOTE = "sessions/a.md"


def ended(outcome: RunOutcome, **more: object) -> Ended:
    return Ended("r1", NOTE, outcome, "text", **more)  # type: ignore[arg-type]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A vault with a note that asks."""
    root = furnish(tmp_path, monkeypatch.setenv)
    write(root / "approvals/x.md", "---\nid: 01HZZZZZZZ0000000000000002\n---\n# May I?\n")
    return open_workspace(root)


def test_what_waits_for_a_yes_is_last_with_its_code_and_command(workspace: Workspace) -> None:
    waits = ended(RunOutcome.NEEDS_APPROVAL, reason="vault_edit waits", waits_for="approvals/x.md", hint="tick it")
    code = codes_by_path(workspace.vault)["approvals/x.md"]
    assert "\n".join(remarks(waits, workspace)).split("\n")[-3:] == [
        "needs approval: vault_edit waits",
        f"to allow it: vault-agent needs yes {code} --go-on",
        f"to refuse it: vault-agent needs no {code} --go-on",
    ]
    asks = ended(RunOutcome.QUESTION_ASKED, reason="which tea?", waits_for="questions/my tea.md")
    assert remarks(asks, workspace)[-1] == "your answer: vault-agent needs answer 'questions/my tea.md' TEXT --go-on"


def test_what_was_refused_is_said_below_the_changes(workspace: Workspace) -> None:
    lines = remarks(ended(RunOutcome.FINISHED, refused=("shell", "web_fetch"), is_changed=True), workspace)
    assert lines[-1] == "your policy does not allow: shell, web_fetch" and lines[0].startswith("notes were changed")


def test_the_command_that_is_named_goes_on_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    change = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long.")
    own = settings(tmp_path, script(tmp_path / "s.json", change, "All done."))
    waits = document(root, own, "ask", "change yourself")["waits_for"]
    code = codes_by_path(open_workspace(root).vault)[waits]
    assert "All done." in tell(root, own, "needs", "yes", code, "--go-on")
    assert "Be long." in (root / "AGENT.md").read_text()


def test_a_tool_that_the_policy_denies_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    own = settings(tmp_path, script(tmp_path / "s.json", call("vault_list"), "I may not."))
    rules = tmp_path / "home" / "config" / "policy.yaml"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text(
        "version: 1\nprofiles:\n  - name: default\n    match: {}\n    policy:\n      deny: [{tool: vault_list}]\n"
    )
    assert document(root, own, "ask", "list them")["refused"] == ["vault_list"]
