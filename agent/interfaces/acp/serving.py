"""Serves one editor over standard input and output, until it closes the connection."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, cast

from acp import run_agent
from acp.interfaces import Agent

from agent.interfaces.acp.door import EditorDoor, SlashCommands
from agent.lazy import later
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.interfaces.acp.talks import open_talks
else:
    open_talks = later("agent.interfaces.acp.talks", "open_talks")


def serve(workspace: Workspace, commands: Callable[[], SlashCommands]) -> None:
    """Serve the editor that has started this process; returns once what was said is written into memory."""
    with ExitStack() as parts:
        door = EditorDoor(workspace.vault.place.root, lambda: open_talks(workspace, parts), commands)
        asyncio.run(_serve(door))


async def _serve(door: EditorDoor) -> None:
    try:
        await run_agent(cast(Agent, door), use_unstable_protocol=True)
    finally:
        door.stop()
