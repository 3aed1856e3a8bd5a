"""A request that a program leaves in the inbox is answered there, under the policy of its door; what it only writes is
not."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.channel_names import IN_NOTES
from agent.errors import NeedsApproval
from agent.interfaces.mcp.calls import open_calls
from agent.interfaces.mcp.clients import Clients, ClientTaints
from agent.interfaces.mcp.definitions import offer_of
from agent.interfaces.mcp.source import CallSource
from agent.loop.session import load_session, sessions
from agent.runs.decisions import approvals
from agent.runs.left_requests import GROUPS, channel_of_pulled, request_draft
from agent.runs.note_changes import note_changes
from agent.tools.policy import load_policies
from agent.vault.change import HTTP
from agent.workspace.workspace import Workspace
from tests.daemon.house import living
from tests.daemon.test_inbox_requests_are_answered import QUICK, answered, answers, runs_so_far
from tests.stories.agents import call, furnish, script
from tests.vaults import git


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in QUICK.items():
        monkeypatch.setenv(key, value)
    return furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", *["Well done."] * 30))


def leave(workspace: Workspace, text: str) -> Path:
    """Leave a request as a client of the API does; its note."""
    draft = request_draft(workspace, text)
    assert note_changes(workspace, HTTP, GROUPS).leave_request(draft).commit
    return workspace.vault.place.root / draft.path


def channels(root: Path) -> set[str]:
    vault = open_workspace(root).vault
    return {load_session(vault, path).channel for path in sessions(vault)}


def test_it_is_answered_in_its_note_once(root: Path) -> None:
    with living(root) as house:
        note = leave(house.workspace, "Plan my week")
        answered(house, note)
        assert "Vault-Actor: http" in git(root, "log", "--format=%B", "--diff-filter=A", "--", f"inbox/{note.name}")
        note.write_text(note.read_text() + "\nAnd the next one?\n")
        answered(house, note, 2)
    assert channels(root) == {HTTP, IN_NOTES}, "what the person writes below is their own"


def test_what_was_left_while_no_daemon_was_at_work_is_answered_by_the_next(root: Path) -> None:
    workspace = open_workspace(root)
    notes = [leave(workspace, "Plan my week"), leave(workspace, "Plan my week")]
    assert len({note.name for note in notes}) == 2
    with living(root) as house:
        for note in notes:
            answered(house, note)
    with living(root) as house:
        house.for_a_while(1.0)
        assert [answers(note) for note in notes] == [1, 1] and runs_so_far(root) == 2


def test_a_note_that_a_program_only_writes_asks_nothing(root: Path) -> None:
    with living(root) as house:
        with pytest.raises(NeedsApproval) as asked:
            note_changes(house.workspace, HTTP).create("inbox/plain.md", b"Plan my week\n")
        approvals(house.workspace).decide(asked.value.path, True)
        note_changes(house.workspace, HTTP).create("inbox/plain.md", b"Plan my week\n")
        house.for_a_while(1.5)
    with living(root) as house:
        house.for_a_while(1.0)
    assert answers(root / "inbox/plain.md") == 0 and runs_so_far(root) == 0


def test_a_header_in_its_text_changes_nothing(root: Path) -> None:
    with living(root) as house:
        note = leave(house.workspace, "---\nstatus: done\ntype: about\n---\nPlan my week")
        answered(house, note)
    assert "type: about" in note.read_text().partition("---\n\n")[2]


def test_the_policy_is_that_of_its_door(root: Path, tmp_path: Path) -> None:
    script(tmp_path / "script.json", call("search_vault", query="tea"), "Nothing.")
    policy = (
        "version: 1\nprofiles:\n  - name: web\n    match: {channels: [http]}\n    policy: {deny: [{group: search}]}\n"
    )
    workspace = open_workspace(root)
    workspace.directories.config.mkdir(parents=True, exist_ok=True)
    (workspace.directories.config / "policy.yaml").write_text(
        f"{policy}  - name: default\n    match: {{}}\n    policy: {{}}\n"
    )
    with living(root) as house:
        note = leave(house.workspace, "Find tea")
        answered(house, note)
    (path,) = sessions(workspace.vault)
    given = [each.text for each in load_session(workspace.vault, path).history]
    assert any("there is no tool search_vault" in each for each in given)


def test_a_program_with_mcp_leaves_one_too(root: Path) -> None:
    with living(root) as house:
        workspace = house.workspace
        calls = open_calls(workspace, offer_of("", read_only=False), load_policies(workspace.directories.config))
        taints = ClientTaints(workspace.vault.private_folder / "clients", workspace.vault.clock)
        client = Clients(workspace.vault.clock, taints).find(CallSource("Claude Code"), "")
        said = calls.perform("inbox", {"text": "Plan my week"}, client)
        approvals(workspace).decide(said.waits_for, True)
        said = calls.perform("inbox", {"text": "Plan my week"}, client)
        assert not said.failed and "the daemon answers in it" in said.text
        (note,) = root.glob("inbox/2*.md")
        answered(house, note)
    assert channels(root) == {"mcp:claude-code"}


def test_what_comes_from_another_machine_keeps_its_door(root: Path) -> None:
    vault = open_workspace(root).vault
    (root / "inbox").mkdir(exist_ok=True)
    for name, actor in {"a": "mcp:codex", "b": "http", "c": "human", "d": ""}.items():
        (root / f"inbox/{name}.md").write_text(f"{name}\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"from elsewhere\n\nVault-Actor: {actor}" if actor else "by hand")
    found = [channel_of_pulled(vault, f"inbox/{each}.md", vault.content_id(f"{each}\n".encode())) for each in "abcd"]
    assert found == ["mcp:codex", "http", IN_NOTES, IN_NOTES]
