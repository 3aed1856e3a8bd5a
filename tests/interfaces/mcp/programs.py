"""Programs that use a vault through MCP: the official client in this process, a started server, and raw messages."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.session import ElicitationFnT
from mcp_types import CallToolResult, Implementation, TextContent

from agent.app.open import open_workspace
from agent.interfaces.mcp.definitions import offer_of
from agent.interfaces.mcp.server import Door
from agent.interfaces.mcp.source import CallSource
from agent.tools.policy import load_policies
from tests.stories.agents import PROJECT, environment, settings

MODERN, LEGACY = "auto", "legacy"


def command(root: Path, *options: str) -> list[str]:
    """The command line that starts the server."""
    return [sys.executable, "-m", "agent", "--vault", str(root), "mcp", *options]


@dataclass(slots=True)
class Program:
    """One connected program."""

    client: Client

    async def call(self, tool: str, **arguments: object) -> CallToolResult:
        """The result of a call."""
        return await self.client.call_tool(tool, arguments)

    async def says(self, tool: str, **arguments: object) -> str:
        """The text of a call that must succeed."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, text(result)
        return text(result)

    async def fails(self, tool: str, **arguments: object) -> str:
        """The text of a call that must fail."""
        result = await self.call(tool, **arguments)
        assert result.is_error, text(result)
        return text(result)


def text(result: CallToolResult) -> str:
    """The text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def base_in(answer: str) -> str:
    """The base that `read` or `write` gives."""
    return answer.partition("\n")[0].removeprefix("base: ")


@asynccontextmanager
async def connected(
    root: Path,
    name: str = "Claude Code",
    *,
    mode: str = MODERN,
    tools: str = "",
    read_only: bool = False,
    answer: ElicitationFnT | None = None,
) -> AsyncIterator[Program]:
    """The official client, connected to a server in this process."""
    workspace = open_workspace(root)
    policies = load_policies(workspace.directories.config)
    door = Door(workspace, offer_of(tools, read_only=read_only), policies, lambda request: CallSource(name))
    info = Implementation(name=name, version="1")
    try:
        async with Client(door.server(), mode=mode, client_info=info, elicitation_callback=answer) as client:
            yield Program(client)
    finally:
        door.close()


@asynccontextmanager
async def started(folder: Path, root: Path, *options: str, name: str = "Claude Code", mode: str = MODERN) -> Any:
    """The official client, connected to a server that it has started as a program does."""
    words = command(root, "--as", name, *options)
    server = StdioServerParameters(command=words[0], args=words[1:], env=environment(settings(folder)), cwd=PROJECT)
    async with Client(server, mode=mode, client_info=Implementation(name=name, version="1")) as client:
        yield Program(client)


def run(work: Callable[[], Awaitable[None]], seconds: float = 120) -> None:
    """Run a test's coroutine, for so many seconds at most."""

    async def limited() -> None:
        with anyio.fail_after(seconds):
            await work()

    anyio.run(limited)


@dataclass(slots=True)
class RawClient:
    """A client that writes its messages itself, as those of the protocol of 2025-06-18 do."""

    process: "subprocess.Popen[bytes]"
    told: list[dict[str, Any]] = field(default_factory=list)
    _number: int = 0

    def ask(self, method: str, params: Mapping[str, object] | None = None) -> dict[str, Any]:
        """The answer to a request; notifications before it are kept in `told`."""
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}})
        return self.answer(self._number)

    def send(self, message: Mapping[str, object]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, number: int) -> dict[str, Any]:
        """The answer with this number."""
        while (found := self.read()).get("id") != number:
            self.told.append(found)
        return found

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        found: dict[str, Any] = json.loads(line)
        return found

    def begin(self, name: str = "old-client") -> dict[str, Any]:
        """The handshake."""
        info = {"name": name, "version": "0.1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        answer = self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer


@contextmanager
def raw_client(folder: Path, root: Path, *options: str, said: Path | None = None) -> Iterator[RawClient]:
    """A started server with raw messages; its agent speaks from the script `said`."""
    with subprocess.Popen(
        command(root, *options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(settings(folder, said)),
        cwd=PROJECT,
    ) as process:
        try:
            yield RawClient(process)
        finally:
            process.kill()
