"""The server on standard input and output, for one program that has started it; it ends when its input is closed."""

import anyio
from mcp.server.stdio import stdio_server

from agent.interfaces.mcp.definitions import ToolOffer
from agent.interfaces.mcp.server import Door
from agent.tools.policy_file import load_policies
from agent.workspace.workspace import Workspace


def serve(workspace: Workspace, offer: ToolOffer) -> None:
    """Serve until standard input is closed; raises `ConfigError` for an invalid policy."""
    door = Door(workspace, offer, load_policies(workspace.directories.config))

    async def run() -> None:
        server = door.server()
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    try:
        anyio.run(run)
    finally:
        door.close()
