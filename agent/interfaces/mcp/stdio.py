"""The server on standard input and output, for one program that has started it; it ends when its input is closed."""

import anyio
from mcp.server.stdio import stdio_server

from agent.interfaces.mcp.definitions import ToolOffer
from agent.interfaces.mcp.greeting import Greeting, WithoutGreeting
from agent.interfaces.mcp.server import Door
from agent.interfaces.mcp.source import CallSource, parent_program
from agent.tools.policy import load_policies
from agent.workspace.workspace import Workspace


def serve(workspace: Workspace, offer: ToolOffer, name: str, greeting: Greeting | None = None) -> None:
    """Serve until standard input is closed. The program has the `name` that its configuration gives it, else (empty)
    that of the process that has started this one; its first message was answered already with the `greeting`, if there
    is one. Raises `ConfigError` for an invalid policy."""
    source = CallSource(name) if name else CallSource(parent_program(), is_program=False)
    door = Door(workspace, offer, load_policies(workspace.directories.config), lambda request: source)

    async def run() -> None:
        server = door.server()
        async with stdio_server() as (incoming, outgoing):
            told = outgoing if greeting is None else WithoutGreeting(outgoing, greeting)
            await server.run(incoming, told, server.create_initialization_options())

    try:
        anyio.run(run)
    finally:
        door.close()
