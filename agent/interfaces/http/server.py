"""The server of one service: a thread with an event loop, and a listener for each place where requests come in.

A listener is opened and closed while the server runs: the Unix socket of the daemon, a port of this machine.
"""

import asyncio
import logging
import os
import socket
import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.config.private import FILE, make_folder
from agent.errors import UserError
from agent.interfaces.http.door.guard import Guard, Limits, Listener
from agent.interfaces.http.door.port import LOOPBACK, PortRequest, Tls
from agent.interfaces.http.door.sign_in import SignIn
from agent.interfaces.http.door.socket_file import SOCKET_HOST, bindable
from agent.texts import Language

_KEEP_ALIVE, _GRACE = 30, 2
logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class OpenListener:
    """A listener at work; `port` is 0 for a Unix socket."""

    port: int
    server: uvicorn.Server
    serving: "Future[None]"

    def close(self) -> None:
        """Accept no more requests, and end those that go on after a moment."""
        self.server.should_exit = True
        with suppress(Exception):
            self.serving.result(_GRACE * 2)


async def _not_started(scope: Scope, receive: Receive, send: Send) -> None:
    raise RuntimeError("the server was not started")


@dataclass(slots=True)
class HttpServer:
    """One event loop in a thread of its own, from `start` to `close`."""

    sign_in: SignIn
    limits: Limits
    language: Language
    _app: ASGIApp = _not_started
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _thread: threading.Thread | None = None
    _open: list[OpenListener] = field(default_factory=list)

    def start(self, app: ASGIApp) -> None:
        """Start the loop; its listeners, which may be opened from now on, serve `app`."""
        self._app = app
        self._thread = threading.Thread(target=self._loop.run_forever, name="vault-agent-http", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close all listeners, then the loop."""
        for each in list(self._open):
            each.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        if self._thread is not None:
            self._thread.join(_GRACE)
        if not self._loop.is_running():
            self._loop.close()

    def open_port(self, wanted: PortRequest) -> OpenListener:
        """Listen on a port of this machine; raises `UserError` if it is taken or may not be used."""
        address, port = wanted.address, wanted.port
        listening = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, port))
        except OSError as error:
            listening.close()
            raise UserError(
                "port {port} cannot be opened: {reason}",
                hint="give another one with --port, or 0 for any that is free",
                port=port,
                reason=error.strerror or str(error),
            ) from None
        port = listening.getsockname()[1]
        return self._listen(listening, port, _listener(wanted, port), wanted.tls)

    def open_socket(self, path: Path) -> OpenListener:
        """Listen on a Unix socket that only its owner may use; one that a crash left is replaced."""
        make_folder(path.parent)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with suppress(FileNotFoundError):
            path.unlink()
        before = os.umask(0o177)
        try:
            with bindable(path) as name:
                listening.bind(name)
        finally:
            os.umask(before)
        path.chmod(FILE)
        hosts = frozenset({SOCKET_HOST})
        return self._listen(listening, 0, Listener(hosts, frozenset()), None)

    def _listen(self, listening: socket.socket, port: int, listener: Listener, tls: Tls | None) -> OpenListener:
        config = uvicorn.Config(
            Guard(self._app, listener, self.sign_in, self.limits, self.language),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            ws="none",
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_GRACE,
            h11_max_incomplete_event_size=65_536,
            ssl_certfile=tls.certificate if tls else None,
            ssl_keyfile=tls.key if tls else None,
        )
        server = uvicorn.Server(config)
        listening.listen(256)
        serving = asyncio.run_coroutine_threadsafe(server.serve([listening]), self._loop)
        opened = OpenListener(port, server, serving)
        self._open.append(opened)
        serving.add_done_callback(lambda _: self._forget(opened, listening))
        return opened

    def _forget(self, opened: OpenListener, listening: socket.socket) -> None:
        self._open.remove(opened)
        listening.close()


def _listener(wanted: PortRequest, port: int) -> Listener:
    if wanted.origin:
        host = wanted.origin.partition("://")[2]
        return Listener(frozenset({host.lower()}), frozenset({wanted.origin.lower()}))
    address = wanted.address
    scheme, default = ("https", 443) if wanted.tls else ("http", 80)
    name = f"[{address}]" if ":" in address else address
    names = {name, "localhost", LOOPBACK} if address in {LOOPBACK, "::1"} else {name}
    hosts = {f"{each}:{port}" for each in names} | (names if port == default else set())
    return Listener(frozenset(hosts), frozenset(f"{scheme}://{host}" for host in hosts))
