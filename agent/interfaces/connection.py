"""Connections of this program's HTTP servers: whoever has shown no token cannot keep others out, however slow they are.

A connection waits until a request on it is let in. The ones that wait are few: one more ends the one that has waited
longest, so that many slow ones end each other, while a request that comes at once is let in at once.
"""

import asyncio
import socket
from http import HTTPStatus
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

ARRIVING = 30
"""Seconds in which a further request has to arrive whole; a connection that is slower, or asks nothing, is closed."""
LARGEST_HEAD = 65_536
BACKLOG = 128
"""Connections that are taken at once, before those of them that are too many are closed."""
_ENTERING = 10.0
"""Seconds after which a connection is closed on which no request was let in."""
_WAITING = 64
"""Connections of one listener that may wait at the same time for longer than `_CHANCE`."""
_CHANCE = 1.0
_CONNECTIONS = 600
"""Connections of one listener at the same time; the process needs open files for its work, too."""
_REFUSED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST}


class LimitedConnection(H11Protocol):
    """A connection with an end: one that is slow to ask is closed, and a stream ends when the server does."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.app: ASGIApp = self._enter
        self._made = 0.0
        self._is_let_in = False
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._made = self.loop.time()
        self._expect_request()
        self._make_room()

    def handle_events(self) -> None:
        super().handle_events()
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_timer()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        cycle = self.cycle
        if cycle is not None and cycle.response_started and not cycle.response_complete:
            cycle.disconnected = True  # as if its reader had left
            cycle.message_event.set()
            self.transport.close()
        super().shutdown()

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a refusal leaves the connection waiting as if it had asked nothing."""
        self._is_let_in = True

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in _REFUSED:
                self._is_let_in = False
                if not self._time_left():
                    message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        await self.config.loaded_app(scope, receive, sent)

    def _make_room(self) -> None:
        """Close the connection that has waited longest, or this one, if there are too many."""
        others = [
            each for each in self.connections if isinstance(each, LimitedConnection) and not each.transport.is_closing()
        ]
        waiting = [each for each in others if not each._is_let_in]
        oldest = min(waiting, key=lambda each: each._made)  # this one, if no other waits
        is_late = self.loop.time() - oldest._made > _CHANCE
        if len(others) > _CONNECTIONS or (len(waiting) > _WAITING and is_late):
            oldest.transport.abort()

    def _expect_request(self) -> None:
        """Start the time in which a request has to arrive, unless one has."""
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and not cycle.more_body:
            self._forget_timer()
        elif self._late is None and not self.transport.is_closing():
            left = ARRIVING if self._is_let_in else self._time_left()
            self._late = self.loop.call_later(left, self.transport.abort)

    def _time_left(self) -> float:
        """Seconds in which a request has to be let in."""
        return max(self._made + _ENTERING - self.loop.time(), 0.0)

    def _forget_timer(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def server_config(app: Any, **more: Any) -> uvicorn.Config:
    """The configuration of a server of ours: its connections are limited, and it says nothing of itself."""
    return uvicorn.Config(
        app, http=LimitedConnection, access_log=False, server_header=False, ws="none", backlog=BACKLOG,
        timeout_keep_alive=ARRIVING, h11_max_incomplete_event_size=LARGEST_HEAD, **more,
    )  # fmt: skip


def bound_socket(address: str, port: int) -> socket.socket:
    """A socket with this port of this machine; raises `OSError`."""
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((address, port))
    except OSError:
        found.close()
        raise
    return found
