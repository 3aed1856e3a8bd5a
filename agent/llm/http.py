"""The only door to httpx for models: one POST, its answer piece by piece, and a way out at any moment.

httpx blocks while a server says nothing, so each exchange has a thread of its own; whoever waits looks at `cancelled`
ten times a second and hangs up by shutting the socket. What the bytes mean is left to the wires, trying again to
`retry`. Redirects are not followed: a key must not travel.
"""

import logging
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal

from agent.clock import Clock
from agent.config.secrets import reveal
from agent.errors import AgentError, ConfigError, Interrupted, Permanent, Retryable
from agent.llm.endpoint import Endpoint
from agent.llm.failures import clean_message
from agent.llm.provider import Cancelled

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0
LONGEST_SECONDS = 3600.0
"""The longest that one answer may take, however lively: a server that only says that it lives is left after it."""
MAX_BYTES = 8 * 1024 * 1024
"""The longest answer in bytes, with all that a stream wraps around it."""
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class HttpReply:
    """The beginning of an answer; `pieces` are its bytes as they come. `retry_after` and `location` are headers."""

    status: int
    content_type: str
    retry_after: str
    location: str
    pieces: Iterator[bytes]

    def body(self, most: int = MAX_BYTES) -> bytes:
        """What is left of the answer in one, cut off after `most` bytes."""
        whole = bytearray()
        for piece in self.pieces:
            whole += piece
            if len(whole) >= most:
                break
        return bytes(whole[:most])


HttpFault = Literal["refused", "connect", "certificate", "proxy", "silent", "broken", "too long", "encoded", "bug"]


@dataclass(frozen=True, slots=True)
class _Failed:
    fault: HttpFault
    detail: str


_UNREACHED: frozenset[HttpFault] = frozenset({"refused", "connect", "certificate", "proxy"})
"""Faults before there is a connection: nothing was sent."""


class Unreached(Exception):
    """No connection was made, so that nothing was sent; `failure` is the error for whoever asked."""

    def __init__(self, failure: AgentError) -> None:
        super().__init__(failure.message)
        self.failure = failure


_Said = HttpReply | bytes | _Failed | None
"""What the thread reports; None when the answer is complete."""


class _Line:
    """The connection of one exchange, to be hung up from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._down = False

    def watch(self, name: str, info: Mapping[str, object]) -> None:
        """Told by httpx of each step; remembers the sockets that it opens."""
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
        """Wake whoever reads from the connection: it is over."""
        with self._lock:
            self._down = True
            self._shut()

    def _shut(self) -> None:
        for each in self._sockets:
            with suppress(OSError):
                # Not each.shutdown: on a TLS socket that would pull the session from under the thread that reads.
                socket.socket.shutdown(each, socket.SHUT_RDWR)


class Http:
    """One model's server. May be used by several threads at once; keeps no connection between calls."""

    def __init__(self, endpoint: Endpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._clock = clock
        for name in ("httpx", "httpcore"):  # they would log headers, and a server may echo the key in its own
            logging.getLogger(name).setLevel(logging.WARNING)

    @contextmanager
    def post(
        self, path: str, headers: Mapping[str, str], body: bytes, key: str, cancelled: Cancelled
    ) -> Iterator[HttpReply]:
        """Send `body` as JSON to the address's `path`; the answer's head is there when this enters.

        Leaving hangs up, whatever has come by then. Raises `Interrupted` soon after `cancelled` is true, `Retryable`
        for a server that breaks off or is silent, `Permanent` for one that should not be asked so, and `Unreached` with
        either of the two where no connection was made.
        """
        said: SimpleQueue[_Said] = SimpleQueue()
        line = _Line()
        url = f"{self._endpoint.base_url}{path}"
        told = {"accept": "text/event-stream, application/json", "accept-encoding": "identity"}
        told |= {"content-type": "application/json", "user-agent": "vault-agent"} | dict(headers)
        thread = threading.Thread(
            target=_exchange, args=(self._endpoint, url, told, body, line, said), name="model-call", daemon=True
        )
        thread.start()
        try:
            head = self._next(said, cancelled, key, self._clock.monotonic())
            if not isinstance(head, HttpReply):
                raise self._failure(_Failed("broken", "it said nothing"), key)
            yield replace(head, pieces=self._pieces(said, cancelled, key))
        finally:
            line.hang_up()
            thread.join(0.2)  # longer only while it is still connecting; it ends by itself then

    def _pieces(self, said: SimpleQueue[_Said], cancelled: Cancelled, key: str) -> Iterator[bytes]:
        since = self._clock.monotonic()
        while isinstance(piece := self._next(said, cancelled, key, since), bytes):
            yield piece

    def _next(self, said: SimpleQueue[_Said], cancelled: Cancelled, key: str, since: float) -> _Said:
        while True:
            if cancelled():
                raise Interrupted("the call of the model was cancelled")
            if self._clock.monotonic() - since > LONGEST_SECONDS:
                raise self._failure(_Failed("silent", f"no end of its answer after {LONGEST_SECONDS:g} s"), key)
            with suppress(Empty):
                item = said.get(timeout=POLL_SECONDS)
                if isinstance(item, _Failed):
                    failure = self._failure(item, key)
                    raise Unreached(failure) if item.fault in _UNREACHED else failure
                return item

    def _failure(self, failed: _Failed, key: str) -> AgentError:
        place, why = self._endpoint.place, clean_message(failed.detail, key)
        if failed.fault == "refused" and self._endpoint.local:
            return Permanent(
                f"no model server answers at {place}", hint=f"is the server running at {self._endpoint.base_url}?"
            )
        match failed.fault:
            case "refused" | "connect":
                hint = f"check your network, and whether the server is running at {self._endpoint.base_url}"
                return Retryable(f"{place} cannot be reached: {why}", delay=0.0, hint=hint)
            case "certificate":
                hint = "if it is your own server, name its certificate authority in the variable SSL_CERT_FILE"
                return Permanent(f"{place} cannot be trusted: {why}", hint=hint)
            case "proxy":
                hint = "check the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY"
                return Permanent(f"the proxy on the way to {place} does not work", hint=hint)
            case "silent":
                hint = "a larger llm.timeout_seconds gives a slow model more time"
                return Retryable(f"{place} is silent: {why}", delay=0.0, hint=hint)
            case "broken":
                return Retryable(f"{place} broke the connection: {why}", delay=0.0, hint="try again later")
            case "too long":
                hint = "check that llm.base_url is the address of a model server, or lower llm.max_output"
                return Permanent(f"{place} sent more than {MAX_BYTES // 1024 // 1024} MB", hint=hint)
            case "encoded":
                hint = "it was asked not to: check what stands between you and the server"
                return Permanent(f"{place} sent a compressed answer", hint=hint)
            case "bug":
                return Permanent(f"asking {place} failed: {why}", hint="please report this as a bug")


def key_of(endpoint: Endpoint) -> str:
    """The endpoint's key, empty when it has none; raises `MissingKey`, and `ConfigError` for what cannot be a key."""
    if not endpoint.key.reference:
        return ""
    key = reveal(endpoint.key).strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            f"the secret at llm.api_key ({endpoint.key}) holds characters that no key has",
            hint="copy the key again: one word of letters, digits and signs",
        )
    return key


def _exchange(
    endpoint: Endpoint, url: str, headers: dict[str, str], body: bytes, line: _Line, said: SimpleQueue[_Said]
) -> None:
    """The thread's work: one request, reported piece by piece, and its end in any case."""
    end: _Said = None
    try:
        with _client(endpoint) as client:
            stream = client.stream("POST", url, headers=headers, content=body, extensions={"trace": line.watch})
            with stream as response:
                end = _report(response, said)
    except Exception as error:  # noqa: BLE001  whoever waits for this thread must hear of everything
        end = _fault(error, endpoint)
    finally:
        said.put(end)


def _report(response: "httpx.Response", said: SimpleQueue[_Said]) -> _Said:
    headers = response.headers
    if headers.get("content-encoding", "identity").lower() not in ("identity", ""):
        return _Failed("encoded", "")
    said.put(
        HttpReply(
            response.status_code,
            headers.get("content-type", "").lower(),
            headers.get("retry-after", ""),
            headers.get("location", ""),
            iter(()),  # `post` puts the pieces that follow here
        )
    )
    size = 0
    for piece in response.iter_raw():
        size += len(piece)
        if size > MAX_BYTES:
            return _Failed("too long", "")
        said.put(piece)
    return None


def _client(endpoint: Endpoint) -> "httpx.Client":
    import httpx

    timeout = httpx.Timeout(endpoint.timeout, connect=min(CONNECT_SECONDS, endpoint.timeout))
    trusted = _trusted() if endpoint.secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the latter trusts nobody
    # Proxies are for the way out of this machine; `trust_env` would look for one on the way to itself, too.
    return httpx.Client(verify=trusted, timeout=timeout, trust_env=not endpoint.local, follow_redirects=False)


@cache
def _trusted() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()  # 20 ms


def _fault(error: Exception, endpoint: Endpoint) -> _Failed:
    import httpx

    detail = str(error) or type(error).__name__
    if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
        return _Failed("silent", f"not a byte for {endpoint.timeout:g} s")
    if isinstance(error, httpx.ConnectTimeout):
        return _Failed("connect", f"no connection within {min(CONNECT_SECONDS, endpoint.timeout):g} s")
    if isinstance(error, httpx.ConnectError):
        if "CERTIFICATE_VERIFY_FAILED" in detail:
            return _Failed("certificate", detail)
        return _Failed("refused" if "refused" in detail.lower() else "connect", detail)
    if isinstance(error, httpx.ProxyError | httpx.InvalidURL | ImportError | ValueError):
        return _Failed("proxy", "")  # its message may hold the proxy's password; our own address has been checked
    if isinstance(error, httpx.TransportError | OSError):
        return _Failed("broken", detail)
    return _Failed("bug", type(error).__name__)
