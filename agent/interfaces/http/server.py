"""The server of one service: a thread with an event loop, and a listener for each place where requests come in.

A listener is opened and closed while the server runs: the Unix socket of the daemon, a port of this machine.
"""

import asyncio
import socket
import ssl
import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import field
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.config.entrance import Entrance
from agent.config.private import FILE, make_folder
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.interfaces.connection import BACKLOG, server_config
from agent.interfaces.http.door.guard import Guard, RequestLimits
from agent.interfaces.http.door.port import Listener, PortRequest, Tls, bound_socket, listener_of
from agent.interfaces.http.door.sign_in import SignIn
from agent.texts import Language
from agent.workspace.daemon_socket import SOCKET_HOST, bindable

_GRACE = 1
"""Seconds for requests that go on while the server closes; streams end at once."""


class _Server(uvicorn.Server):
    """A server that sleeps until it is stopped, where uvicorn's looks ten times a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.stopped = asyncio.Event()

    async def main_loop(self) -> None:
        await self.stopped.wait()


@dataclass(slots=True, eq=False)
class OpenListener:
    """A listener at work; `port` is 0 for a Unix socket."""

    port: int
    server: _Server
    loop: asyncio.AbstractEventLoop
    serving: "Future[None] | None" = None

    def close(self) -> None:
        """Accept no more requests, end streams at once and the rest after a moment. Does not wait for that."""
        with suppress(RuntimeError):  # the loop is closed, and the listener with it
            self.loop.call_soon_threadsafe(self.server.stopped.set)


async def _not_started(scope: Scope, receive: Receive, send: Send) -> None:
    raise RuntimeError("the server was not started")


@dataclass(slots=True)
class HttpServer:
    """One event loop in a thread of its own, from `start` to `close`."""

    sign_in: SignIn
    limits: RequestLimits
    language: Language
    app: ASGIApp = _not_started
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _thread: threading.Thread | None = None
    _open: list[OpenListener] = field(default_factory=list)

    def start(self, app: ASGIApp) -> None:
        """Start the loop; its ports, which may be opened from now on, serve `app`."""
        self.app = app
        self._thread = threading.Thread(target=self._loop.run_forever, name="vault-agent-http", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close all listeners, then the loop."""
        if self._thread is None:
            return
        closing = list(self._open)
        for each in closing:
            each.close()
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_ended(closing), self._loop).result(_GRACE * 2)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_GRACE)
        if not self._loop.is_running():
            self._loop.close()

    def open_port(self, wanted: PortRequest) -> OpenListener:
        """Listen on a port of this machine; raises `UserError` if it is taken or may not be used."""
        listening = bound_socket(wanted)
        port = listening.getsockname()[1]
        return self._listen(self.app, listening, port, listener_of(wanted, port), wanted.tls)

    def open_socket(self, path: Path, app: ASGIApp) -> OpenListener:
        """Serve `app` on a Unix socket that only its owner may use; one that a crash left is replaced."""
        make_folder(path.parent)  # nobody else may enter it, so nobody is quicker than the mode of the socket
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            path.unlink(missing_ok=True)
            with bindable(path) as name:
                listening.bind(name)
            path.chmod(FILE)
        except OSError:
            listening.close()
            raise
        return self._listen(app, listening, 0, Listener(Entrance(frozenset({SOCKET_HOST}), frozenset())), None)

    def _listen(
        self, app: ASGIApp, listening: socket.socket, port: int, listener: Listener, tls: Tls | None
    ) -> OpenListener:
        config = server_config(
            Guard(app, listener, self.sign_in, self.limits, self.language),
            interface="asgi3",
            lifespan="off",
            log_config=None,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_GRACE,
            ssl_certfile=tls.certificate if tls else None,
            ssl_keyfile=tls.key if tls else None,
        )
        try:
            config.load()
        except (OSError, ssl.SSLError) as error:
            listening.close()
            raise UserError(
                "the certificate cannot be used: {reason}",
                hint="both files are PEM, and the key is the certificate's and has no password",
                reason=error.strerror or str(error),
            ) from None
        listening.listen(BACKLOG)
        opened = OpenListener(port, _Server(config), self._loop)
        self._open.append(opened)
        opened.serving = asyncio.run_coroutine_threadsafe(opened.server.serve([listening]), self._loop)
        opened.serving.add_done_callback(lambda _: self._forget(opened, listening))
        return opened

    def _forget(self, opened: OpenListener, listening: socket.socket) -> None:
        self._open.remove(opened)
        listening.close()


async def _ended(listeners: list[OpenListener]) -> None:
    """Wait until the listeners have ended, then end what is left on their loop."""
    served = [asyncio.wrap_future(each.serving) for each in listeners if each.serving is not None]
    await asyncio.gather(*served, return_exceptions=True)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
