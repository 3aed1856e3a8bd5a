"""An editor by the official client: it starts the program, sends, and keeps what it is shown."""

import asyncio
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from acp import PROTOCOL_VERSION, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection
from acp.interfaces import Client
from acp.schema import AllowedOutcome, DeniedOutcome, PermissionOption, RequestPermissionResponse, ToolCallUpdate

LONG = 60.0
Answer = Callable[[ToolCallUpdate, list[PermissionOption]], str | None]
"""The kind of the option that the person chooses, such as `allow_once`; None: they close the question."""


def never(call: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
    raise AssertionError(f"nobody was to be asked: {call.title}")


@dataclass
class Editor:
    """What one editor was shown; `answer` is how its person decides, `waits` keeps them from it."""

    answer: Answer = never
    waits: asyncio.Event | None = None
    shown: list[Any] = field(default_factory=list)
    asked: list[ToolCallUpdate] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    connection: ClientSideConnection = field(init=False)
    process: Process = field(init=False)

    async def session_update(self, session_id: str, update: Any, **also: Any) -> None:
        self.shown.append(update)
        self.news.set()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **also: Any
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call)
        self.news.set()
        if self.waits is not None:
            await self.waits.wait()
        kind = self.answer(tool_call, options)
        chosen = next((each for each in options if each.kind == kind), None)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen.option_id))

    def on_connect(self, conn: Any) -> None:
        """Nothing: the connection is kept by `editing`."""

    def of_kind(self, kind: str) -> list[Any]:
        return [each for each in self.shown if each.session_update == kind]

    @property
    def text(self) -> str:
        """The agent's words so far."""
        return "".join(each.content.text for each in self.of_kind("agent_message_chunk"))

    async def until(self, holds: Callable[[], Any]) -> None:
        async with asyncio.timeout(LONG):
            while not holds():
                self.news.clear()
                await self.news.wait()

    async def begin(self, root: Path) -> str:
        """The id of a new conversation."""
        return (await self.connection.new_session(cwd=str(root), mcp_servers=[])).session_id

    async def say(self, session: str, words: str) -> Any:
        """The answer to a message of the person's."""
        return await self.connection.prompt(session_id=session, prompt=[text_block(words)])


@asynccontextmanager
async def editing(root: Path, env: Mapping[str, str], editor: Editor) -> AsyncIterator[Editor]:
    """An editor that is connected to the program, until the end of the block."""
    command = ("-m", "agent", "--vault", str(root), "acp")
    async with spawn_agent_process(
        cast(Client, editor), sys.executable, *command, env=dict(env), cwd=str(root), use_unstable_protocol=True
    ) as (connection, process):
        editor.connection, editor.process = connection, process
        await connection.initialize(protocol_version=PROTOCOL_VERSION)
        yield editor
