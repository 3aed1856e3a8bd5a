"""The gate before the server over HTTP: nothing passes without the right host, a local origin, and the token.

The checks come before any routing. A page on the web that gets its own name to lead to this machine (DNS rebinding)
sends that name as the host, and its address as the origin.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from agent.config.entrance import bearer_token, is_token, local_entrance
from agent.dataclass import dataclass

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Gate:
    """An application behind the gate, at one port of this machine."""

    app: App
    port: int
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope["headers"]) if scope["type"] == "http" else (404, "there is nothing here", "")
        if refusal is None:
            await self.app(scope, receive, send)
            return
        await _send_refusal(send, *refusal)

    def refusal(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str, str] | None:
        """The status, the reason and what to do, for a request that may not pass; None for one that may."""
        refused = local_entrance(self.port).refuses(_values(headers, b"host"), _values(headers, b"origin"))
        if refused == "host":
            return 421, "this host is not served here", f"use http://127.0.0.1:{self.port}/mcp"
        if refused == "origin":
            return 403, "pages of other places may not use this", "connect from a program on this machine"
        if not is_token(bearer_token(_values(headers, b"authorization")), self.token):
            return 401, "the token is missing or wrong", "send Authorization: Bearer with the token from the token file"
        return None


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


async def _send_refusal(send: Send, status: int, reason: str, hint: str) -> None:
    body = json.dumps({"title": reason, "status": status, "hint": hint}).encode()
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    headers += [(b"www-authenticate", b'Bearer realm="vault-agent"')] if status == 401 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
