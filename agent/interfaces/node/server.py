"""The node host at work: listens on this machine only, in this thread or beside it, until it is stopped."""

import socket
from collections.abc import Callable
from dataclasses import field
from threading import Thread

import uvicorn

from agent.clock import Clock
from agent.config.directories import Directories
from agent.config.node_settings import NodeSettings, made_node_token, node_token_place
from agent.dataclass import dataclass
from agent.errors import UserError, os_reason
from agent.interfaces.connection import BACKLOG, bound_socket, server_config
from agent.interfaces.node.app import NodeApp
from agent.interfaces.node.calls import CallLog
from agent.interfaces.node.catalog import node_tools
from agent.interfaces.node.folders import Folders
from agent.interfaces.node.programs import Runner
from agent.interfaces.node.tool import Desk

PORT = 19820
_GRACE = 3
"""The seconds that requests get to end when the host is stopped."""


@dataclass(slots=True)
class NodeHost:
    """The host of this machine. `port` 0 takes any free one; `address` is the real one after `listen`."""

    settings: NodeSettings
    directories: Directories
    clock: Clock
    port: int = PORT
    _server: uvicorn.Server | None = field(default=None, init=False)
    _socket: socket.socket | None = field(default=None, init=False)
    _thread: Thread | None = field(default=None, init=False)
    _stopped: bool = field(default=False, init=False)

    @property
    def app(self) -> NodeApp:
        """The tools that are on, with this machine's folders."""
        state = self.directories.state / "node"
        closed = (self.directories.config, self.directories.state, self.directories.cache)
        desk = Desk(
            Runner(self.clock, lambda: self._stopped), Folders.named(self.settings.folders, closed), state / "captures"
        )
        return NodeApp(node_tools(self.settings.tools), desk, CallLog(state / "calls", self.clock), self.clock)

    @property
    def address(self) -> str:
        """The address for requests."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def token_place(self) -> str:
        """Where the token is."""
        return node_token_place(self.settings, self.directories)

    @property
    def is_running(self) -> bool:
        """True while the host answers."""
        return self._server is not None and not self._stopped

    def listen(self) -> None:
        """Take the port, and make the token if there is none; requests wait until `serve`.

        Raises `UserError` if another program has the port.
        """
        token = made_node_token(self.settings, self.directories)
        self._socket = _bound(self.port)
        self.port = self._socket.getsockname()[1]
        self._stopped = False
        app = self.app.guarded(token, self.port)
        config = server_config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=_GRACE)
        self._server = uvicorn.Server(config)

    def serve(self) -> None:
        """Answer requests until a signal or `stop`."""
        assert self._server is not None and self._socket is not None
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._stopped = True
            self._socket.close()

    def start(self, failed: Callable[[Exception], object] = lambda error: None) -> None:
        """Listen, and answer in another thread."""
        self.listen()

        def work() -> None:
            try:
                self.serve()
            except Exception as error:  # noqa: BLE001 - the thread's edge: the caller is told
                failed(error)

        self._thread = Thread(target=work, name="vault-agent-node", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the host: programs that run are stopped, requests that came get an answer."""
        self._stopped = True
        if self._server is not None:
            self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(_GRACE * 2)
            self._thread = None


def _bound(port: int) -> socket.socket:
    try:
        found = bound_socket("127.0.0.1", port)
    except OSError as error:
        raise UserError(
            "the node host cannot listen on port {port}: {reason}",
            hint="another one may be running; vault-agent node --port 0 takes any free port",
            port=port,
            reason=os_reason(error),
        ) from error
    found.listen(BACKLOG)
    return found
