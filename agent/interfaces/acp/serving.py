"""Serves one editor over standard input and output, until it closes the connection."""

import asyncio
from contextlib import ExitStack, closing
from typing import cast

from acp import run_agent
from acp.interfaces import Agent

from agent.app.agent import build_runs
from agent.interfaces.acp.door import EditorDoor, SlashCommands
from agent.interfaces.acp.talks import OpenTalks
from agent.runs.arrivals import arrivals_before_a_run
from agent.runs.crash_recovery import close_cut_off
from agent.workspace.catch_up import catch_up, show_nothing
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace


def serve(workspace: Workspace, commands: SlashCommands) -> None:
    """Serve the editor that has started this process; returns once what was said is written into memory."""
    with ExitStack() as open_parts:

        def open_runs() -> OpenTalks:
            index = open_parts.enter_context(closing(open_index(workspace)))
            close_cut_off(workspace)
            catch_up(workspace, index, shown=show_nothing)
            arrivals_before_a_run(workspace)
            runs = build_runs(workspace, index)
            open_parts.callback(runs.close)
            return OpenTalks(runs)

        asyncio.run(_serve(EditorDoor(workspace.vault.place.root, open_runs, commands)))


async def _serve(door: EditorDoor) -> None:
    try:
        await run_agent(cast(Agent, door), use_unstable_protocol=True)
    finally:
        door.stop()
