"""The gate before the server over HTTP: nothing passes without the right host, a local origin, and the token.

The checks come before any routing. A page on the web that gets its own name to lead to this machine (DNS rebinding)
sends that name as the host, and its address as the origin.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import field
from typing import Any, TypeAlias

from agent.config.entrance import bearer_token, is_token, local_entrance
from agent.dataclass import dataclass
from agent.interfaces.mcp.source import CallSource

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
        shown, known = bearer_token(_values(headers, b"authorization")), list(self.tokens().items())
        source = next((source for token, source in known if is_token(shown, token)), None)
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
