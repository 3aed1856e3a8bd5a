"""A program's name in commits is tied to its configuration, token or process, and is nobody else's; its searches
survive."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.app.open import open_workspace
from agent.config.masking import KnownSecrets
from agent.interfaces.mcp.searches import Searches
from agent.interfaces.mcp.source import CallSource, program_name
from agent.vault.change import Stamp
from agent.vault.history.commit_index import parse_message
from agent.vault.message import compose
from tests.interfaces.mcp.programs import RawClient, command, connected, run
from tests.stories.agents import PROJECT, environment, furnish, settings
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
    assert CallSource(name).actor("Somebody Else") == actor


@pytest.mark.parametrize(
    ("claimed", "actor"),
    [
        ("Claude Code", "mcp:node.claude-code"),
        ("", "mcp:node.client"),
        ("../..", "mcp:node.client"),
        ("node.cursor", "mcp:node.node.cursor"),
        ("a" * 500, f"mcp:node.{'a' * 35}"),
    ],
)
def test_what_a_program_says_of_itself_stands_behind_what_is_known(claimed: str, actor: str) -> None:
    assert CallSource("node", is_program=False).actor(claimed) == actor


@given(st.text(), st.text(), st.text())
def test_no_claim_makes_a_program_another_one(name: str, other: str, claimed: str) -> None:
    """Nobody of one place is taken for somebody of another place, whatever they say."""
    shared = CallSource(name, is_program=False)
    assert shared.actor(claimed).partition(".")[0] == shared.actor(other).partition(".")[0]
    assert "." in shared.actor(claimed) and shared.actor(claimed) != CallSource(name.replace(".", "-")).actor(claimed)
    assert CallSource(name).actor(claimed) == CallSource(name).actor(other)


@given(st.text(), st.text())
def test_any_name_makes_an_actor_that_a_commit_can_have(name: str, claimed: str) -> None:
    for actor in (CallSource(name).actor(claimed), CallSource(name, is_program=False).actor(claimed)):
        message = compose("vault(write): a.md", Stamp(actor), known=KnownSecrets())
        assert parse_message(message)[2] == [("vault-actor", actor)]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("/usr/bin/code", "code"),
        ("-zsh", "zsh"),
        ("node /usr/lib/node_modules/@google/gemini-cli/dist/index.js --yolo", "gemini-cli"),
        ("/usr/bin/python3.12 -P -m pytest tests", "pytest"),
        ("python3 -u /home/ann/bin/notes.py", "notes"),
        ("python3 -c import-this /tmp/x", "python3"),
        ("node", "node"),
        ("claude", "claude"),
        ("", "client"),
    ],
)
def test_a_process_is_called_by_what_it_runs(words: str, name: str) -> None:
    assert program_name(tuple(words.split())) == name


def test_a_program_is_known_by_its_process_behind_shells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programs of one claim are two, and neither takes the other's work back; through a shell it is the same."""
    root = furnish(tmp_path, monkeypatch.setenv)
    starter = f"import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:], cwd={str(PROJECT)!r}))"
    for name in ("honest", "other"):
        write(tmp_path / f"{name}.py", starter)

    def begun(program: str, *before: str) -> "subprocess.Popen[bytes]":
        words = [sys.executable, str(tmp_path / f"{program}.py"), *before, *command(root)]
        env = environment(settings(tmp_path))
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=PROJECT)

    def calls(program: str, *calls: tuple[str, dict[str, object]], before: tuple[str, ...] = ()) -> list[str]:
        with begun(program, *before) as process:
            client = RawClient(process)
            client.begin("claude-code")
            answers = [client.ask("tools/call", {"name": name, "arguments": given}) for name, given in calls]
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)
        return [each["result"]["content"][0]["text"] for each in answers]

    calls("honest", ("write", {"path": "mine.md", "content": "mine\n"}))
    commit = git(root, "rev-parse", "HEAD").strip()
    assert git(root, "log", "-1", "--format=%(trailers:key=Vault-Actor,valueonly)").split() == [
        "mcp:honest.claude-code"
    ]
    refused, nothing, other = calls("other", ("undo", {"commit": commit}), ("undo", {}), ("undo", {"since": "1h"}))
    assert "made by mcp:honest.claude-code" in refused and "nothing of yours" in nothing
    assert (root / "mine.md").exists(), other
    shell = ("sh", "-c", '"$@"; exit $?', "sh")
    assert "taken back" in calls("honest", ("undo", {"commit": commit}), before=shell)[0]
    assert not (root / "mine.md").exists()


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
