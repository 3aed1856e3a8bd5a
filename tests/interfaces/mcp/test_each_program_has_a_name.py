"""A program's name in commits comes from what it calls itself, and can be nobody else's; its searches survive."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.app.open import open_workspace
from agent.config.masking import KnownSecrets
from agent.interfaces.mcp.clients import client_actor
from agent.interfaces.mcp.searches import Searches
from agent.vault.change import Stamp
from agent.vault.history.trailers import parse_message
from agent.vault.message import compose
from tests.interfaces.mcp.programs import connected, run
from tests.stories.agents import furnish
from tests.vaults import git, write


@pytest.mark.parametrize(
    ("name", "actor"),
    [
        ("Claude Code", "mcp:claude-code"),
        ("cursor-vscode", "mcp:cursor-vscode"),
        ("飞书 助手", "mcp:飞书-助手"),
        ("human\nVault-Actor: human", "mcp:human-vault-actor-human"),
        ("../../job:x", "mcp:job-x"),
        ("", "mcp:client"),
        ("\x1b[8m", "mcp:8m"),
        ("a" * 500, f"mcp:{'a' * 60}"),
    ],
)
def test_the_name_is_plain(name: str, actor: str) -> None:
    assert client_actor(name) == actor


@given(st.text())
def test_any_name_makes_an_actor_that_a_commit_can_have(name: str) -> None:
    message = compose("vault(write): a.md", Stamp(client_actor(name)), known=KnownSecrets())
    assert parse_message(message)[2] == [("vault-actor", client_actor(name))]


def test_a_hostile_name_stays_in_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)

    async def work() -> None:
        async with connected(root, "human\nVault-Actor: human") as program:
            await program.says("write", path="a.md", content="x\n")

    run(work)
    assert git(root, "log", "-1", "--format=%(trailers:key=Vault-Actor,valueonly)").split() == [
        "mcp:human-vault-actor-human"
    ]


def test_a_package_in_the_working_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    write(root / "agent/__init__.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(root)
    searches = Searches(open_workspace(root))
    try:
        assert [hit.path for hit in searches.search("green tea", 1).hits] == ["tea.md"]
    finally:
        searches.close()
    assert not (tmp_path / "ran").exists()


def test_a_search_process_that_is_gone_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searches = Searches(open_workspace(furnish(tmp_path, monkeypatch.setenv)))
    try:
        assert [hit.path for hit in searches.search("green tea", 1).hits] == ["tea.md"]
        for kill in (True, False):
            process = searches._process
            assert process is not None and process.stdin is not None
            process.kill() if kill else process.stdin.close()
            process.wait()
            assert [hit.path for hit in searches.search("green tea", 1).hits] == ["tea.md"]
    finally:
        searches.close()
