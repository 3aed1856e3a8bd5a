"""The server over HTTP (streamable HTTP), for any number of programs on this machine, behind a gate: nothing passes
without the right host, a local origin, and the token.

The checks come before any routing. A page on the web that gets its own name to lead to this machine (DNS rebinding)
sends that name as the host, and its address as the origin.
"""

import json
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias

import uvicorn

from agent.config.entrance import LOCAL_NAMES, bearer_token, is_token, local_entrance
from agent.dataclass import dataclass
from agent.errors import UserError, os_reason
from agent.interfaces.connection import BACKLOG, bound_socket, server_config
from agent.interfaces.mcp.definitions import ToolOffer
from agent.interfaces.mcp.server import Door
from agent.interfaces.mcp.source import CallSource
from agent.interfaces.mcp.token_file import Tokens
from agent.tools.policy import load_policies
from agent.workspace.workspace import Workspace

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


SOURCE = "vault-agent.source"
"""The key of a request's scope under which it stands who sends it, by the token."""
_SESSION = b"mcp-session-id"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request may not pass, with its status and what to do."""

    status: int
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """An application behind the gate, at one port of this machine. `tokens` says who shows which token now."""

    app: App
    port: int
    tokens: Callable[[], Mapping[str, CallSource]]
    _sessions: dict[str, CallSource] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        entering = self.entering(scope["headers"]) if scope["type"] == "http" else Refusal(404, "there is nothing here")
        if isinstance(entering, Refusal):
            await _send_refusal(send, entering)
            return
        scope[SOURCE] = entering
        await self.app(scope, receive, self._noting(send, entering))

    def _noting(self, send: Send, source: CallSource) -> Send:
        """Notes whose session it is that an answer begins."""

        async def sent(message: MutableMapping[str, Any]) -> None:
            for session in _values(message.get("headers", []), _SESSION):
                self._sessions.setdefault(session, source)
            await send(message)

        return sent

    def entering(self, headers: list[tuple[bytes, bytes]]) -> "CallSource | Refusal":
        """Who may pass with a request, or why it may not."""
        refused = local_entrance(self.port).refuses(_values(headers, b"host"), _values(headers, b"origin"))
        if refused == "host":
            return Refusal(421, "this host is not served here", f"use http://127.0.0.1:{self.port}/mcp")
        if refused == "origin":
            return Refusal(403, "pages of other places may not use this", "connect from a program on this machine")
        presented, known = bearer_token(_values(headers, b"authorization")), list(self.tokens().items())
        source = next((source for token, source in known if is_token(presented, token)), None)
        if source is None:
            hint = "send Authorization: Bearer with the token from the token file"
            return Refusal(401, "the token is missing or wrong", hint)
        if any(self._sessions.get(each, source) != source for each in _values(headers, _SESSION)):
            return Refusal(403, "this session is another program's", "begin one of your own")
        return source


def request_source(request: Any) -> CallSource:
    """Who sends a request of the SDK that has passed the gate."""
    source: CallSource = request.request.scope[SOURCE]
    return source


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


async def _send_refusal(send: Send, refusal: Refusal) -> None:
    status = refusal.status
    body = json.dumps({"title": refusal.reason, "status": status, "hint": refusal.hint}).encode()
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    headers += [(b"www-authenticate", b'Bearer realm="vault-agent"')] if status == 401 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


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
        config = server_config(app, lifespan="on", log_level="warning", timeout_graceful_shutdown=_GOODBYE)
        announce(Listening(f"http://{_LOOPBACK}:{chosen}{PATH}", file))
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            door.close()


def _listen(port: int) -> socket.socket:
    """A socket that listens on this machine only: a program that connects from now on is served."""
    try:
        listener = bound_socket(_LOOPBACK, port)
    except OSError as error:
        raise UserError(
            "port {port} cannot be used: {reason}",
            hint="name another one with --port, or --port 0 for any free one",
            port=port,
            reason=os_reason(error),
        ) from error
    listener.listen(BACKLOG)
    return listener
