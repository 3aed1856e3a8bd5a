"""Opens the doors of a daemon: its Unix socket always, and a port of this machine where one is asked for."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import field, replace
from functools import cache, partial
from importlib import import_module

from starlette.types import ASGIApp, Receive, Scope, Send

from agent.app.agent import opened_runs
from agent.background.asked_runs import AskedRuns
from agent.background.feed import Feed
from agent.background.pool import Pool, Priority
from agent.clock import in_machine_seconds
from agent.daemon import Live
from agent.dataclass import dataclass
from agent.interfaces.http.api.table import SOCKET_TABLE, TABLE
from agent.interfaces.http.application import build_application
from agent.interfaces.http.door.browsers import browsers_of, load_token, token_file
from agent.interfaces.http.door.guard import OPEN, RequestLimits, TokenBucket
from agent.interfaces.http.door.port import OpenPort, PortRequest, bracketed
from agent.interfaces.http.door.sign_in import SignIn, remove_openings
from agent.interfaces.http.operation import Operation
from agent.interfaces.http.server import HttpServer, OpenListener
from agent.interfaces.http.service import KEPT, Happening, Happenings, Service, SharedSearch
from agent.interfaces.http.shares import Shares
from agent.workspace.daemon_socket import socket_path
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace

_WRONG_TOKENS, _PER_SECOND = 300, 1.0
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _SharedPort:
    """A port that is open, and the number of those who asked for it; `is_chance`: they asked for any that is free."""

    listener: OpenListener
    is_chance: bool
    users: int = 0


@dataclass(frozen=True, slots=True)
class Doors:
    """The server of one daemon."""

    server: HttpServer
    workspace: Workspace
    pool: Pool
    with_pages: Callable[[], ASGIApp]
    """Makes what ports serve, once. The pages, with the libraries that draw them, are 5 MB, and most daemons have no
    port."""
    _shared: dict[PortRequest, _SharedPort] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, wanted: PortRequest) -> OpenPort:
        """Listen on one more port, with the first page ready to be made; raises `UserError` if it is taken. A port that
        is open already gets one more link, and stays open until each who asked for it has closed it."""
        with self._lock:
            shared = self._shared.get(wanted)
            if shared is None:
                listener, is_chance = self._listen(wanted), wanted.port == 0
                wanted = replace(wanted, port=listener.port)
                shared = self._shared[wanted] = _SharedPort(listener, is_chance)
                self._sign_out(shared)
            shared.users += 1
        url = _url(wanted)
        link = f"{url}{OPEN}{self.server.sign_in.code(wanted.port)}"
        return OpenPort(f"{url}/", link, token_file(self.workspace), partial(self._close, wanted))

    def urls(self) -> tuple[str, ...]:
        """The addresses of the ports that are open."""
        with self._lock:
            return tuple(map(_url, self._shared))

    def _close(self, wanted: PortRequest) -> None:
        with self._lock:
            shared = self._shared[wanted]
            shared.users -= 1
            if not shared.users:
                del self._shared[wanted]
                shared.listener.close()
                self._sign_out(shared)

    def close(self) -> None:
        """End what was signed in at ports that end with this server."""
        with self._lock:
            for shared in self._shared.values():
                self._sign_out(shared)

    def _sign_out(self, shared: _SharedPort) -> None:
        """Sign the browsers of a port out that nobody has chosen: its next use is another one."""
        if shared.is_chance:
            self.server.sign_in.browsers.end_port(shared.listener.port)

    def _listen(self, wanted: PortRequest) -> OpenListener:
        listener = self.server.open_port(wanted)
        self.with_pages()
        frame = import_module("agent.interfaces.http.pages.frame")
        frame.compile_first_page()
        self.pool.submit(frame.compile_pages, key="templates of pages", priority=Priority.MAINTENANCE)
        return listener


def _url(port: PortRequest) -> str:
    scheme = "https" if port.tls else "http"
    return port.origin or f"{scheme}://{bracketed(port.address)}:{port.port}"


@contextmanager
def doors_of(live: Live, own: Sequence[Operation] = ()) -> Iterator[Doors]:
    """The server of a daemon with its Unix socket open; everything is closed at the end of the block.

    `own` are operations of the command line itself: they are on the socket only. A system on which the socket cannot be
    opened has none: its command line does without.
    """
    workspace, settings = live.workspace, live.workspace.settings
    clock = workspace.vault.clock
    sign_in = SignIn(load_token(workspace), clock, browsers_of(workspace))
    remove_openings(token_file(workspace).parent)
    changes: Feed[Happening] = Feed(KEPT)
    live.bus.subscribe(Happenings(changes).hear, object, name="doors", timeout=None)
    with closing(open_index(workspace, chosen=live.index.chosen)) as index:
        runs = AskedRuns(workspace, live.pool, partial(opened_runs, workspace))
        largest = int(settings.http.largest_megabytes * 1_000_000)
        rate = settings.http.per_second
        with_files = int(settings.capture.largest_megabytes * 2_000_000) + largest
        limits = RequestLimits(
            TokenBucket(clock, rate, rate * 2), TokenBucket(clock, _PER_SECOND, _WRONG_TOKENS), largest, with_files
        )
        server = HttpServer(sign_in, limits, settings.vault.language)

        @cache
        def with_pages() -> ASGIApp:
            pages = import_module("agent.interfaces.http.pages.routes")
            return build_application(service, TABLE, *pages.page_routes(service), missing=pages.missing_page)

        async def serve_pages(scope: Scope, receive: Receive, send: Send) -> None:
            await with_pages()(scope, receive, send)

        doors = Doors(server, workspace, live.pool, with_pages)
        shared = SharedSearch(index)
        shares = Shares(in_machine_seconds(clock))
        service = Service(
            workspace, shared, live.pool, live.bus, runs, changes, sign_in, doors.open, doors.urls, shares
        )
        server.start(serve_pages)
        try:
            try:
                server.open_socket(socket_path(workspace), build_application(service, (*TABLE, *SOCKET_TABLE, *own)))
            except OSError as error:
                logger.warning("the daemon's socket cannot be opened: %s", error)
            yield doors
        finally:
            changes.close()
            server.close()
            doors.close()
            socket_path(workspace).unlink(missing_ok=True)
