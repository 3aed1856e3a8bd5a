"""Over HTTP: two programs at once through the official client, and the gate that nothing else passes."""

import http.client
import json
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.subscriptions import ResourcesListChanged
from mcp_types import Implementation

from agent.interfaces.mcp.token_file import Tokens
from tests.interfaces.mcp.programs import LEGACY, MODERN, Program, command, run
from tests.processes import ended, started
from tests.stories.agents import PROJECT, environment, furnish, settings
from tests.vaults import git

BEGIN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    token_file: Path
    root: Path
    process: "subprocess.Popen[bytes]"

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    @property
    def token(self) -> str:
        return self.token_file.read_text().strip()

    def request(self, method: str, headers: dict[str, str], path: str = "/mcp") -> tuple[int, dict[str, Any]]:
        """The status and the document of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True)
            body = json.dumps(BEGIN).encode()
            usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
            for name, value in {**usual, "Content-Length": str(len(body)), **headers}.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            is_problem = answer.headers.get_content_type() == "application/problem+json"
            return answer.status, json.loads(answer.read()) if is_problem else {}
        finally:
            connection.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("http")
    with pytest.MonkeyPatch.context() as patched:
        root = furnish(folder, patched.setenv)
    words = command(root, "--http", "--port", "0", "--json")
    env = environment(settings(folder))
    with started(words, stdout=subprocess.PIPE, env=env, cwd=PROJECT) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        yield Server(said["url"], Path(said["token_file"]), root, process)
        assert ended(process, signal.SIGINT) in {0, 130}


@asynccontextmanager
async def connected(server: Server, name: str, mode: str, token: str = "") -> Any:
    shown = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token or server.token}"})
    async with (
        shown,
        Client(
            streamable_http_client(server.url, http_client=shown),
            mode=mode,
            client_info=Implementation(name=name, version="1"),
        ) as client,
    ):
        yield Program(client)


@pytest.mark.parametrize("mode", [MODERN, LEGACY])
def test_two_programs_work_at_once_each_in_its_name(server: Server, mode: str) -> None:
    async def work() -> None:
        async with connected(server, "Cursor", mode) as one, connected(server, "Gemini CLI", mode) as other:
            await one.says("write", path=f"{mode}/one.md", content="1\n")
            await other.says("write", path=f"{mode}/other.md", content="2\n")
            assert "exists: read it" in await other.fails("write", path=f"{mode}/one.md", content="3\n")
            assert "one.md" in await other.says("log", actor="mcp:http.cursor", limit=1)
            await other.says("undo")

    run(work)
    assert [path.name for path in sorted((server.root / mode).iterdir())] == ["one.md"]
    assert "mcp:http.gemini-cli" in git(server.root, "log", "-3", "--format=%B")


@pytest.mark.parametrize("mode", [MODERN, LEGACY])
def test_a_program_is_named_by_its_token_whatever_it_says(server: Server, mode: str) -> None:
    tokens = Tokens(server.token_file.parent)
    cursor, other = (tokens.named(each).read_text().strip() for each in ("Cursor", "Other"))

    async def work() -> None:
        async with connected(server, "somebody", mode, cursor) as one:
            await one.says("write", path=f"tied/{mode}.md", content="1\n")
            for token in (other, server.token):
                async with connected(server, "cursor", mode, token) as forger:
                    (commit,) = (await forger.says("log", actor="mcp:cursor", limit=1)).splitlines()[0].split()[:1]
                    assert "made by mcp:cursor" in await forger.fails("undo", commit=commit)
                    assert token == server.token or "nothing of yours" in await forger.fails("undo")
            assert (server.root / f"tied/{mode}.md").exists()
            await one.says("undo")

    run(work)
    assert not (server.root / f"tied/{mode}.md").exists()
    tokens.remove("other")
    shown = {"Host": f"127.0.0.1:{server.port}", "Authorization": f"Bearer {other}"}
    assert server.request("POST", shown)[0] == 401, "a token that was taken away opens nothing"
    tokens.remove("cursor")
    (server.token_file.parent / "mcp-tokens/---").write_text("no name of a program")
    assert server.request("POST", shown)[0] == 401, "a stray file stops nobody, and nothing is made anew"
    (server.token_file.parent / "mcp-tokens/---").unlink()
    assert tokens.names() == []


def test_a_session_is_of_the_token_that_began_it(server: Server) -> None:
    """A form that asks for a yes is answered in the session: nobody else may."""
    tokens = Tokens(server.token_file.parent)
    other = tokens.named("other").read_text().strip()
    usual = {"Accept": "application/json, text/event-stream"}
    with httpx2.Client(headers=usual) as client:
        own = {"Authorization": f"Bearer {server.token}"}
        session = client.post(server.url, json=BEGIN, headers=own).headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        inside = {"mcp-session-id": session, "mcp-protocol-version": "2025-06-18"}
        assert client.post(server.url, json=ping, headers={**own, **inside}).status_code == 200
        foreign = client.post(server.url, json=ping, headers={"Authorization": f"Bearer {other}", **inside})
        assert foreign.status_code == 403 and "another program" in foreign.json()["title"]
    tokens.remove("other")


def test_a_list_that_changes_is_told(server: Server) -> None:
    async def work() -> None:
        async with (
            connected(server, "Cursor", MODERN) as program,
            program.client.listen(resources_list_changed=True) as told,
        ):
            (server.root / "one-more.md").write_text("one more\n")
            async for event in told:
                assert event == ResourcesListChanged()
                break

    run(work, 60)


def test_the_token_is_for_its_person_only(server: Server) -> None:
    assert stat.S_IMODE(server.token_file.stat().st_mode) == 0o600 and len(server.token) >= 32
    found = subprocess.run(["grep", "-r", "-e", server.token, str(server.root)], capture_output=True, check=False)
    assert found.returncode == 1


METHODS = ("GET", "POST", "DELETE", "OPTIONS", "PUT")
PATHS = ("/mcp", "/", "/mcp/", "/health", "/.well-known/oauth-protected-resource")
HOSTS = ("127.0.0.1:{port}", "localhost:{port}", "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1")
ORIGINS = ("", "http://127.0.0.1:{port}", "https://evil.example", "null", "http://127.0.0.1:1", "http://localhost")
TOKENS = ("", "Bearer {token}", "Bearer wrong", "Bearer ", "Basic {token}", "Bearer {token}x", "{token}")


def test_nothing_passes_the_gate(server: Server) -> None:
    """Promise 10: every route and method without the token, with a wrong one, a bad host or a bad origin."""
    passed = 0
    for method, path in product(METHODS, PATHS):
        for host, origin, token in product(HOSTS, ORIGINS, TOKENS):
            is_good = host in HOSTS[:2] and origin in ORIGINS[:2] and token == TOKENS[1]
            if (method, path) != ("POST", "/mcp") and (is_good or host != HOSTS[0] and origin):
                continue  # the same checks stand before every route: all combinations for one of them
            given = {"Host": host, "Origin": origin, "Authorization": token}
            filled = {key: value.format(port=server.port, token=server.token) for key, value in given.items() if value}
            status, told = server.request(method, filled, path)
            if is_good:
                assert status == 200, (host, origin)
                passed += 1
            else:
                expected = 421 if host not in HOSTS[:2] else 403 if origin not in ORIGINS[:2] else 401
                assert (status, bool(told["hint"])) == (expected, True), (method, path, given)
    assert passed == 4


def test_two_hosts_or_two_tokens_are_refused(server: Server) -> None:
    good = {"Host": f"127.0.0.1:{server.port}", "Authorization": f"Bearer {server.token}"}
    assert server.request("POST", good)[0] == 200
    assert server.request("POST", {**good, "host": "evil.example"})[0] in {400, 421}
    assert server.request("POST", {**good, "authorization": "Bearer wrong"})[0] == 401


def test_a_taken_port_and_an_open_token_are_said(server: Server, tmp_path: Path) -> None:
    env = environment(settings(server.root.parent))

    def said(*options: str) -> str:
        words = command(server.root, "--http", *options)
        ended = subprocess.run(words, capture_output=True, text=True, env=env, cwd=PROJECT, check=False)
        assert ended.returncode == 2
        return ended.stderr

    assert "--port 0 for any free one" in said("--port", str(server.port))
    server.token_file.chmod(0o644)
    try:
        assert "others on this machine can read the token" in said("--port", "0")
    finally:
        server.token_file.chmod(0o600)
