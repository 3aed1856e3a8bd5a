"""The gate before the server over HTTP: nothing passes without the right host, a local origin, and the token.

The checks come before any routing. A page on the web that gets its own name to lead to this machine (DNS rebinding)
sends that name as the host, and its address as the origin.
"""

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOCAL = ("127.0.0.1", "localhost", "[::1]")


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
        hosts = {f"{name}:{self.port}" for name in LOCAL}
        if _values(headers, b"host") not in [[host] for host in hosts]:
            return 421, "this host is not served here", f"use http://127.0.0.1:{self.port}/mcp"
        origins = _values(headers, b"origin")
        if origins and origins not in [[f"http://{host}"] for host in hosts]:
            return 403, "pages of other places may not use this", "connect from a program on this machine"
        shown = _values(headers, b"authorization")
        if len(shown) != 1 or not hmac.compare_digest(_bearer(shown[0]), self.token.encode()):
            return 401, "the token is missing or wrong", "send Authorization: Bearer with the token from the token file"
        return None


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1").strip().lower() if name != b"authorization" else value.decode("latin-1")
            for key, value in headers if key.lower() == name]  # fmt: skip


def _bearer(value: str) -> bytes:
    scheme, _, token = value.strip().partition(" ")
    return token.strip().encode("latin-1") if scheme.lower() == "bearer" else b""


async def _send_refusal(send: Send, status: int, reason: str, hint: str) -> None:
    body = json.dumps({"title": reason, "status": status, "hint": hint}).encode()
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    headers += [(b"www-authenticate", b'Bearer realm="vault-agent"')] if status == 401 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
