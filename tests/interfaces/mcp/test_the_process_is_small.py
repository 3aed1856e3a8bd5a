"""One process for each program: what it says to an old client, how it ends, and how large it is."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.interfaces.mcp.definitions import offer_of
from agent.interfaces.mcp.greeting import VERSIONS, greeting_of
from agent.interfaces.mcp.server import Door
from agent.interfaces.mcp.source import CallSource
from agent.tools.policy import load_policies
from tests.interfaces.mcp.programs import Program, command, raw_client, run, started
from tests.stories.agents import furnish, script
from tests.vaults import git

MOST_MEGABYTES = 120
ENDS_WITHIN = 5.0
"""Seconds; half a second on a machine that does nothing else, as `README.md` says."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv)


def test_the_official_client_starts_it_and_works(tmp_path: Path, root: Path) -> None:
    async def work() -> None:
        program: Program
        async with started(tmp_path, root) as program:
            await program.says("write", path="new.md", content="# New\n")
            assert "new.md" in await program.says("search", query="new")

    run(work)
    assert "Vault-Actor: mcp:claude-code" in git(root, "log", "-1", "--format=%B", "--", "new.md")


def test_a_client_of_2025_06_18_is_served(tmp_path: Path, root: Path) -> None:
    with raw_client(tmp_path, root, "--as", "My Old Client 2!") as client:
        began = client.begin("Somebody Else")["result"]
        assert began["protocolVersion"] == "2025-06-18" and began["serverInfo"]["name"] == "vault-agent"
        assert "read gives the base" in began["instructions"]
        assert client.ask("ping")["result"] == {}
        assert {each["name"] for each in client.ask("tools/list")["result"]["tools"]} >= {"search", "read", "write"}
        given = {"name": "write", "arguments": {"path": "old.md", "content": "old\n"}}
        result = client.ask("tools/call", given)["result"]
        assert result["isError"] is False and "commit" in result["content"][0]["text"]
        assert client.ask("tools/call", {"name": "write"})["result"]["isError"] is True
        assert client.ask("tools/call", {"arguments": {}})["error"]["code"] == -32602
        assert client.ask("no/such/method")["error"]["code"] == -32601
        client.process.stdin and client.process.stdin.write(b"this is no JSON\n")
        assert client.ask("ping")["result"] == {}
    assert "Vault-Actor: mcp:my-old-client-2" in git(root, "log", "-1", "--format=%B")


@pytest.mark.parametrize("edition", [*VERSIONS, "1999-01-01", "2026-07-28"])
def test_a_greeting_before_the_server_is_loaded_says_what_the_server_would_say(root: Path, edition: str) -> None:
    params = {"protocolVersion": edition, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params}
    found = greeting_of(json.dumps(asked).encode())
    assert found is not None and found.id == 7
    said = list[Any]()

    async def work() -> None:
        workspace = open_workspace(root)
        policies = load_policies(workspace.directories.config)
        door = Door(workspace, offer_of("", read_only=False), policies, lambda request: CallSource("x"))
        server = door.server()
        async with anyio.create_task_group() as tasks, create_client_server_memory_streams() as (client, of_server):
            options = server.create_initialization_options()
            tasks.start_soon(lambda: server.run(*of_server, options))
            await client[1].send(SessionMessage(types.jsonrpc_message_adapter.validate_python(asked)))
            answer: Any = await client[0].receive()
            said.append(answer.message.result)
            tasks.cancel_scope.cancel()

    run(work)
    assert said == [found.result]


def test_the_first_answer_does_not_wait_for_the_command_line(tmp_path: Path, root: Path) -> None:
    """A command line that cannot be loaded stands for one that takes long."""
    params = {"protocolVersion": VERSIONS[-1], "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    asked = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params}) + "\n"
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/click.py").write_text("raise SystemExit(9)\n")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "broken")}

    ended = subprocess.run(command(root), input=asked, env=env, capture_output=True, text=True, check=False)

    assert ended.returncode == 9 and json.loads(ended.stdout)["result"]["serverInfo"]["name"] == "vault-agent"
    elsewhere = subprocess.run(command(tmp_path), input=asked, env=env, capture_output=True, text=True, check=False)
    assert not elsewhere.stdout


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b'{"method": "initialize", "id": 1}', b'{"method": "ping", "id": 1, "params": {}}']
)
def test_another_first_message_is_left_to_the_server(line: bytes) -> None:
    assert greeting_of(line) is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_stays_small_and_ends_with_its_input(tmp_path: Path, root: Path) -> None:
    with raw_client(tmp_path, root) as client:
        client.begin()
        client.ask("tools/list")
        for name, arguments in {
            "read": {"path": "tea.md"},
            "write": {"path": "new.md", "content": "x\n"},
            "search": {"query": "green tea"},
            "recall": {"query": "green tea"},
            "log": {},
        }.items():
            result = client.ask("tools/call", {"name": name, "arguments": arguments})["result"]
            assert not result["isError"], result
        assert megabytes(client.process.pid) <= MOST_MEGABYTES
        assert client.process.stdin is not None
        client.process.stdin.close()
        begun = SystemClock().monotonic()
        assert client.process.wait(ENDS_WITHIN) == 0
        assert SystemClock().monotonic() - begun < ENDS_WITHIN


def test_a_run_of_the_agent_ends_with_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = script(tmp_path / "said.json", {"text": "late", "seconds": 600})
    root = furnish(tmp_path, monkeypatch.setenv, said)
    with raw_client(tmp_path, root, said=said) as client:
        client.begin()
        call = {"name": "ask", "arguments": {"task": "Take your time"}}
        client.send({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call})
        for _ in range(600):
            if list(root.glob("sessions/**/2*.md")):
                break
            SystemClock().sleep(0.1)
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.process.wait(4 * ENDS_WITHIN) == 0
    for _ in range(600):  # the run ends in a process of its own
        if "interrupted" in "".join(path.read_text() for path in root.glob("sessions/**/2*.md")):
            return
        SystemClock().sleep(0.1)
    raise AssertionError("the run goes on")


def megabytes(pid: int) -> float:
    """What a process has in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_without_the_sdk_it_says_what_to_install(tmp_path: Path, root: Path) -> None:
    hide = "import sys; sys.modules['mcp'] = None; from agent.interfaces.cli.main import run; run()"
    words = [sys.executable, "-c", hide, "--vault", str(root), "mcp"]
    ended = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert ended.returncode == 2 and "install it: " in ended.stderr and "[mcp]" in ended.stderr
