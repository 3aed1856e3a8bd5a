"""Lets in only requests with the token, for this host's own name, and from no web page; before anything is routed.

A page of another site cannot have the token, but a name that points to this machine (DNS rebinding), or a form, could
still reach the routes: so the headers `Host` and `Origin` are checked against exact lists first.
"""

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.config.entrance import bearer_token, is_token, local_entrance
from agent.interfaces.node.failure import NodeFailure

MOST_BYTES = 16 << 20
"""The largest body of a request."""


def problem(failure: NodeFailure, headers: dict[str, str] | None = None) -> JSONResponse:
    """The response for a failure."""
    return JSONResponse(failure.document(), int(failure.status), headers, "application/problem+json")


class NodeGuard:
    """The routes behind their checks. `port` is the one that the host listens on."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._entrance = local_entrance(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        failure = self._refusal(headers)
        if failure is not None:
            asks = {"WWW-Authenticate": "Bearer"} if failure.status == HTTPStatus.UNAUTHORIZED else None
            await problem(failure, asks)(scope, receive, send)
            return
        await self._app(scope, _Bounded(receive).receive, send)

    def _refusal(self, headers: Headers) -> NodeFailure | None:
        refused = self._entrance.refuses(headers.getlist("host"), headers.getlist("origin"))
        if refused == "host":
            return NodeFailure(HTTPStatus.FORBIDDEN, "wrong_host", "this address is not the node host's own")
        if refused == "origin":
            return NodeFailure(HTTPStatus.FORBIDDEN, "wrong_origin", "web pages may not use the node host")
        if not is_token(bearer_token(headers.getlist("authorization")), self._token):
            sends = "send it as Authorization: Bearer TOKEN"
            return NodeFailure(HTTPStatus.UNAUTHORIZED, "wrong_token", "the token is missing or wrong", sends)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return too_large()
        return None


def too_large() -> NodeFailure:
    """The failure of a request whose body is larger than `MOST_BYTES`."""
    return NodeFailure(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", f"a request has at most {MOST_BYTES:,} bytes")


class _Bounded:
    """A body that ends with an error when it becomes too large, also without its length in a header."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._size = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size > MOST_BYTES:
            raise too_large()
        return message
