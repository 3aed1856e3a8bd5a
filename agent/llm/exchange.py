"""One HTTP exchange: a request, and its answer in pieces, cancellable at any moment; knows nothing of who is asked.

httpx blocks while a server is silent, so each exchange has its own thread; the caller checks `cancelled` ten times a
second and ends the exchange by shutting the socket. Redirects are not followed, since the key must not reach another
server. What a fault means, and what to say of it, is left to the callers.
"""

import errno
import logging
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import Interrupted
from agent.llm.messages import Cancelled
from agent.texts import Sentence

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0
LONGEST_SECONDS = 3600.0
"""The longest time of one answer, even one that still arrives: a server may send keep-alive messages for ever."""
MAX_BYTES = 8 * 1024 * 1024
"""The longest answer in bytes, including the format of the stream."""
POLL_SECONDS = 0.1
_LIMIT_HEADER = "ratelimit"
_NO_WAY = frozenset({errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTUNREACH})
"""What the system says without a network."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes: the whole address, whether it uses TLS, the seconds of silence allowed, the longest time of
    the whole exchange in seconds, whether proxies of the environment count, and the most bytes of an answer."""

    url: str
    secure: bool
    timeout: float
    longest: float = LONGEST_SECONDS
    proxies: bool = False
    most: int = MAX_BYTES


@dataclass(frozen=True, slots=True)
class HttpReply:
    """The head of an answer; `pieces` are the bytes of its body as they arrive. `retry_after` and `location` are
    headers, `limits` those that tell when a limit of the account is reset."""

    status: int
    content_type: str
    retry_after: str
    location: str
    pieces: Iterator[bytes]
    limits: Mapping[str, str] = field(default_factory=dict)

    def body(self, most: int = MAX_BYTES) -> bytes:
        """The rest of the body, cut off after `most` bytes."""
        whole = bytearray()
        for piece in self.pieces:
            whole += piece
            if len(whole) >= most:
                break
        return bytes(whole[:most])


HttpFault = Literal[
    "refused", "offline", "connect", "certificate", "proxy", "silent", "broken", "too long", "encoded", "bug"
]


@dataclass(frozen=True, slots=True)
class ExchangeFailure:
    """Why there is no answer; `detail` is ours if it is a `Sentence`, else another program's and may hold a key."""

    fault: HttpFault
    detail: str


class ExchangeFailed(Exception):
    """The exchange has no answer, or no end of one."""

    def __init__(self, failed: ExchangeFailure) -> None:
        super().__init__(failed.fault)
        self.failed = failed


_Report = HttpReply | bytes | ExchangeFailure | None
"""A report of the thread; None when the answer is complete."""


class _Line:
    """The connection of one exchange; another thread can close it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._down = False

    def watch(self, name: str, info: Mapping[str, object]) -> None:
        """Remember each socket that httpx opens; httpx calls this for each of its steps."""
        if not name.endswith(("connect_tcp.complete", "start_tls.complete")):
            return
        stream = info.get("return_value")
        opened = stream.get_extra_info("socket") if hasattr(stream, "get_extra_info") else None
        with self._lock:
            if isinstance(opened, socket.socket):
                self._sockets.append(opened)
            if self._down:
                self._shut()

    def hang_up(self) -> None:
        """Shut the connection, which wakes the thread that reads from it."""
        with self._lock:
            self._down = True
            self._shut()

    def _shut(self) -> None:
        for each in self._sockets:
            with suppress(OSError):
                # Not each.shutdown: on a TLS socket it would remove the session that the reading thread uses.
                socket.socket.shutdown(each, socket.SHUT_RDWR)


@contextmanager
def exchange(
    route: Route, method: str, headers: Mapping[str, str], body: bytes, cancelled: Cancelled, clock: Clock
) -> Iterator[HttpReply]:
    """Ask; entering returns when the answer's head has arrived, leaving closes the connection.

    Raises `ExchangeFailed`, also while the pieces are read, and `Interrupted` soon after `cancelled` is true.
    """
    for name in ("httpx", "httpcore"):  # they would log headers, and a server may echo the key in its headers
        logging.getLogger(name).setLevel(logging.WARNING)
    reports: SimpleQueue[_Report] = SimpleQueue()
    line = _Line()
    thread = threading.Thread(
        target=partial(_exchange, route, method, dict(headers), body, line, reports), name="exchange", daemon=True
    )
    began = clock.monotonic()
    thread.start()
    try:
        head = _next(reports, cancelled, clock, began + route.longest, route.longest)
        if not isinstance(head, HttpReply):
            raise ExchangeFailed(ExchangeFailure("broken", Sentence("it said nothing")))
        yield replace(head, pieces=_pieces(reports, cancelled, clock, route.longest))
    finally:
        line.hang_up()
        thread.join(0.2)  # longer only while it is still connecting; the thread then ends without help


def _pieces(reports: SimpleQueue[_Report], cancelled: Cancelled, clock: Clock, longest: float) -> Iterator[bytes]:
    until = clock.monotonic() + longest
    while isinstance(piece := _next(reports, cancelled, clock, until, longest), bytes):
        yield piece


def _next(reports: SimpleQueue[_Report], cancelled: Cancelled, clock: Clock, until: float, longest: float) -> _Report:
    while True:
        if cancelled():
            raise Interrupted("the call was cancelled")
        if clock.monotonic() > until:
            detail = Sentence("no end of its answer after {seconds:g} s", seconds=longest)
            raise ExchangeFailed(ExchangeFailure("silent", detail))
        with suppress(Empty):
            item = reports.get(timeout=POLL_SECONDS)
            if not isinstance(item, ExchangeFailure):
                return item
            if not cancelled():  # a process that was slow to look may find both
                raise ExchangeFailed(item)


def _exchange(
    route: Route,
    method: str,
    headers: dict[str, str],
    body: bytes,
    line: _Line,
    reports: SimpleQueue[_Report],
) -> None:
    """Run one request in the thread: report each piece, and always report the end."""
    end: _Report = None
    try:
        with _client(route) as client:
            stream = client.stream(method, route.url, headers=headers, content=body, extensions={"trace": line.watch})
            with stream as response:
                end = _report(response, reports, route.most)
    except Exception as error:  # noqa: BLE001  the waiting thread must get every error
        end = _fault(error, route)
    finally:
        reports.put(end)


def _report(response: "httpx.Response", reports: SimpleQueue[_Report], most: int) -> _Report:
    headers = response.headers
    if headers.get("content-encoding", "identity").lower() not in ("identity", ""):
        return ExchangeFailure("encoded", "")
    reports.put(
        HttpReply(
            response.status_code,
            headers.get("content-type", "").lower(),
            _milliseconds(headers.get("retry-after-ms", "")) or headers.get("retry-after", ""),
            headers.get("location", ""),
            iter(()),  # `exchange` replaces this with the pieces that follow
            {name.lower(): value for name, value in headers.items() if _LIMIT_HEADER in name.lower()},
        )
    )
    size = 0
    for piece in response.iter_raw():
        size += len(piece)
        if size > most:
            return ExchangeFailure("too long", "")
        reports.put(piece)
    return None


def _milliseconds(header: str) -> str:
    """The seconds of a header in milliseconds, as one in seconds would have them; empty for any other header."""
    return f"{float(header) / 1000:.3f}" if header.replace(".", "", 1).isdecimal() else ""


def _client(route: Route) -> "httpx.Client":
    import httpx

    timeout = httpx.Timeout(route.timeout, connect=min(CONNECT_SECONDS, route.timeout))
    none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts no certificate
    trusted = certificates(environment=True) if route.secure else none
    return httpx.Client(verify=trusted, timeout=timeout, trust_env=route.proxies, follow_redirects=False)


@cache
def certificates(*, environment: bool) -> ssl.SSLContext:
    """httpx's store of trusted certificates, read once, since this takes 20 ms; `environment`: that of `SSL_CERT_FILE`
    or `SSL_CERT_DIR` comes before it."""
    import httpx

    return httpx.create_ssl_context(trust_env=environment)


def _is_offline(error: BaseException | None) -> bool:
    """True if the name of a server, or the way to it, is not known: most likely there is no network."""
    while error is not None:
        if isinstance(error, socket.gaierror) or (isinstance(error, OSError) and error.errno in _NO_WAY):
            return True
        error = error.__cause__ or error.__context__
    return False


def _fault(error: Exception, route: Route) -> ExchangeFailure:
    import httpx

    detail = str(error) or type(error).__name__
    if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
        return ExchangeFailure("silent", Sentence("not a byte for {seconds:g} s", seconds=route.timeout))
    if isinstance(error, httpx.ConnectTimeout):
        seconds = min(CONNECT_SECONDS, route.timeout)
        return ExchangeFailure("connect", Sentence("no connection within {seconds:g} s", seconds=seconds))
    if isinstance(error, httpx.ConnectError):
        if "CERTIFICATE_VERIFY_FAILED" in detail:
            return ExchangeFailure("certificate", detail)
        if _is_offline(error):
            return ExchangeFailure("offline", detail)
        return ExchangeFailure("refused" if "refused" in detail.lower() else "connect", detail)
    if isinstance(error, httpx.ProxyError | httpx.InvalidURL | ImportError | ValueError):
        return ExchangeFailure(
            "proxy", ""
        )  # its message may hold the proxy's password; our own address has been checked
    if isinstance(error, httpx.TransportError | OSError):
        return ExchangeFailure("broken", detail)
    return ExchangeFailure("bug", type(error).__name__)
