"""The server over HTTP (streamable HTTP), for any number of programs on this machine, behind `gate`."""

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from agent.config.entrance import LOCAL_NAMES
from agent.dataclass import dataclass
from agent.errors import UserError, os_reason
from agent.interfaces.connection import ARRIVING, BACKLOG, LARGEST_HEAD, LimitedConnection
from agent.interfaces.mcp.definitions import ToolOffer
from agent.interfaces.mcp.gate import Gate, request_source
from agent.interfaces.mcp.server import Door
from agent.interfaces.mcp.token_file import Tokens
from agent.tools.policy import load_policies
from agent.workspace.workspace import Workspace

PATH = "/mcp"
PORT = 19830
"""The port unless another one is named."""
_LOOPBACK = LOCAL_NAMES[0]
_GOODBYE = 2
"""Seconds for open connections when the person ends it."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the server listens, and the file with the token."""

    url: str
    token_file: Path


def serve(workspace: Workspace, offer: ToolOffer, port: int | None, announce: Callable[[Listening], object]) -> None:
    """Serve until the process is told to end; `announce` is called once programs can connect.

    Raises `UserError` for a port that is taken, and `ConfigError` for an invalid policy.
    """
    door = Door(workspace, offer, load_policies(workspace.directories.config), request_source)
    tokens = Tokens(workspace.vault.private_folder)
    _, file = tokens.shared()
    with _listen(PORT if port is None else port) as listener:
        chosen = listener.getsockname()[1]
        app = Gate(door.server().streamable_http_app(streamable_http_path=PATH), chosen, tokens.sources)
        config = uvicorn.Config(
            app,
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            http=LimitedConnection,
            timeout_keep_alive=ARRIVING,
            h11_max_incomplete_event_size=LARGEST_HEAD,
            backlog=BACKLOG,
            timeout_graceful_shutdown=_GOODBYE,
        )
        announce(Listening(f"http://{_LOOPBACK}:{chosen}{PATH}", file))
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            door.close()


def _listen(port: int) -> socket.socket:
    """A socket that listens on this machine only: a program that connects from now on is served."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_LOOPBACK, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise UserError(
            "port {port} cannot be used: {reason}",
            hint="name another one with --port, or --port 0 for any free one",
            port=port,
            reason=os_reason(error),
        ) from error
    return listener
