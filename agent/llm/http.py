"""The only module that imports httpx for models: one request, its answer in pieces, cancellable at any moment.

httpx blocks while a server is silent, so each exchange has its own thread; the caller checks `cancelled` ten times a
second and ends the exchange by shutting the socket. Parsing is left to the wires, retrying to `retry`. Redirects are
not followed, since the key must not reach another server.
"""

import errno
import logging
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal

from agent.clock import Clock
from agent.config.secrets import reveal
from agent.errors import AgentError, ConfigError, Interrupted, MissingKey, Permanent, Retryable
from agent.llm.endpoint import Endpoint
from agent.llm.failures import clean_message
from agent.llm.provider import Cancelled
from agent.texts import Sentence

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0
LONGEST_SECONDS = 3600.0
"""The longest time of one answer, even one that still arrives: a server may send keep-alive messages for ever."""
MAX_BYTES = 8 * 1024 * 1024
"""The longest answer in bytes, including the format of the stream."""
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class HttpReply:
    """The head of an answer; `pieces` are the bytes of its body as they arrive. `retry_after` and `location` are
    headers."""

    status: int
    content_type: str
    retry_after: str
    location: str
    pieces: Iterator[bytes]

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
class _Failed:
    fault: HttpFault
    detail: str

    def said(self, key: str) -> str:
        """The detail; without the key, if it is another program's."""
        return self.detail if isinstance(self.detail, Sentence) else clean_message(self.detail, key)


_UNREACHED: frozenset[HttpFault] = frozenset({"refused", "offline", "connect", "certificate", "proxy"})
"""Faults before a connection: nothing was sent."""
_NO_WAY = frozenset({errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTUNREACH})
"""What the system says without a network."""


class Unreached(Exception):
    """No connection was made, so nothing was sent; `failure` is the error to raise to the caller."""

    def __init__(self, failure: AgentError) -> None:
        super().__init__(failure.message)
        self.failure = failure


_Said = HttpReply | bytes | _Failed | None
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


class Http:
    """A client for one model's server. Safe to use from several threads; keeps no connection between calls."""

    def __init__(self, endpoint: Endpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._clock = clock
        for name in ("httpx", "httpcore"):  # they would log headers, and a server may echo the key in its headers
            logging.getLogger(name).setLevel(logging.WARNING)

    def get(
        self, path: str, headers: Mapping[str, str], key: str, cancelled: Cancelled
    ) -> AbstractContextManager[HttpReply]:
        """Ask for `path` below the address; otherwise as `post`."""
        return self._send("GET", path, headers, b"", key, cancelled)

    def post(
        self, path: str, headers: Mapping[str, str], body: bytes, key: str, cancelled: Cancelled
    ) -> AbstractContextManager[HttpReply]:
        """Send `body` as JSON to `path` below the address; entering returns when the answer's head has arrived.

        Leaving closes the connection, even before the end of the answer. Raises `Interrupted` soon after `cancelled` is
        true, `Retryable` for a server that disconnects or is silent, `Permanent` for an error that a retry cannot
        solve, and `Unreached` around either of the two when no connection was made.
        """
        return self._send("POST", path, {"content-type": "application/json", **headers}, body, key, cancelled)

    @contextmanager
    def _send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, key: str, cancelled: Cancelled
    ) -> Iterator[HttpReply]:
        said: SimpleQueue[_Said] = SimpleQueue()
        line = _Line()
        url = f"{self._endpoint.base_url}{path}"
        told = {"accept": "text/event-stream, application/json", "accept-encoding": "identity"}
        told |= {"user-agent": "vault-agent"} | dict(headers)
        work = partial(_exchange, self._endpoint, method, url, told, body, line, said)
        thread = threading.Thread(target=work, name="model-call", daemon=True)
        thread.start()
        try:
            head = self._next(said, cancelled, key, self._clock.monotonic())
            if not isinstance(head, HttpReply):
                raise self._failure(_Failed("broken", Sentence("it said nothing")), key)
            yield replace(head, pieces=self._pieces(said, cancelled, key))
        finally:
            line.hang_up()
            thread.join(0.2)  # longer only while it is still connecting; the thread then ends without help

    def _pieces(self, said: SimpleQueue[_Said], cancelled: Cancelled, key: str) -> Iterator[bytes]:
        since = self._clock.monotonic()
        while isinstance(piece := self._next(said, cancelled, key, since), bytes):
            yield piece

    def _next(self, said: SimpleQueue[_Said], cancelled: Cancelled, key: str, since: float) -> _Said:
        while True:
            if cancelled():
                raise Interrupted("the call of the model was cancelled")
            if self._clock.monotonic() - since > LONGEST_SECONDS:
                raise self._failure(
                    _Failed("silent", Sentence("no end of its answer after {seconds:g} s", seconds=LONGEST_SECONDS)),
                    key,
                )
            with suppress(Empty):
                item = said.get(timeout=POLL_SECONDS)
                if isinstance(item, _Failed):
                    failure = self._failure(item, key)
                    raise Unreached(failure) if item.fault in _UNREACHED else failure
                return item

    def _failure(self, failed: _Failed, key: str) -> AgentError:
        place, why = self._endpoint.place, failed.said(key)
        match failed.fault:
            case "refused" | "connect" | "offline":
                return self._not_reached(failed.fault, why)
            case "certificate":
                hint = "if it is your own server, name its certificate authority in the variable SSL_CERT_FILE"
                return Permanent("{place} cannot be trusted: {why}", hint=hint, place=place, why=why)
            case "proxy":
                hint = "check the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY"
                return Permanent("the proxy on the way to {place} does not work", hint=hint, place=place)
            case "silent":
                hint = "a larger llm.timeout_seconds gives a slow model more time"
                return Retryable("{place} is silent: {why}", delay=0.0, hint=hint, place=place, why=why)
            case "broken":
                return Retryable(
                    "{place} broke the connection: {why}", delay=0.0, hint="try again later", place=place, why=why
                )
            case "too long":
                at = self._endpoint.section
                hint = "check that {at}.base_url is the address of a model server, or lower llm.max_output"
                sentence = Sentence("{place} sent more than {size} MB", place=place, size=MAX_BYTES // 1024 // 1024)
                return Permanent(sentence, hint=Sentence(hint, at=at))
            case "encoded":
                hint = "it was asked not to: check what stands between you and the server"
                return Permanent("{place} sent a compressed answer", hint=hint, place=place)
            case "bug":
                return Permanent(
                    "asking {place} failed: {why}", hint="please report this as a bug", place=place, why=why
                )

    def _not_reached(self, fault: HttpFault, why: str) -> AgentError:
        """The error when there is no way to the server, or nobody answers there."""
        place, url, at = self._endpoint.place, self._endpoint.base_url, self._endpoint.section
        if fault == "offline":
            hint = Sentence("are you online? The address is {url}", url=url)
            return Retryable("{place} cannot be found in the network", delay=0.0, hint=hint, place=place)
        if fault == "refused" and self._endpoint.local:
            hint = Sentence(
                "is the server running at {url}? {at}.base_url or {at}.preset would name another one", url=url, at=at
            )
            return Permanent("no model server answers at {place}", hint=hint, place=place)
        sentence = Sentence("{place} cannot be reached: {why}", place=place, why=why)
        hint = Sentence("check your network, and whether the server is running at {url}", url=url)
        return Retryable(sentence, delay=0.0, hint=hint)


def key_of(endpoint: Endpoint) -> str:
    """The endpoint's key, empty when it needs none; raises `MissingKey`, or `ConfigError` for an invalid key."""
    if not endpoint.key.reference:
        return ""
    try:
        key = reveal(endpoint.key).strip()
    except MissingKey as error:
        hint = "{advice}; or vault-agent config set {at}.api_key --prompt takes a key without showing it"
        raise MissingKey(error.message, hint=Sentence(hint, advice=error.hint, at=endpoint.section)) from error
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "the secret at {section}.api_key ({key}) holds characters that no key has",
            hint="copy the key again: one word of letters, digits and signs",
            section=endpoint.section,
            key=endpoint.key,
        )
    return key


def _exchange(
    endpoint: Endpoint,
    method: str,
    url: str,
    headers: dict[str, str],
    body: bytes,
    line: _Line,
    said: SimpleQueue[_Said],
) -> None:
    """Run one request in the thread: report each piece, and always report the end."""
    end: _Said = None
    try:
        with _client(endpoint) as client:
            stream = client.stream(method, url, headers=headers, content=body, extensions={"trace": line.watch})
            with stream as response:
                end = _report(response, said)
    except Exception as error:  # noqa: BLE001  the waiting thread must get every error
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
            iter(()),  # `post` replaces this with the pieces that follow
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
    trusted = _trusted() if endpoint.secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts no certificate
    # Proxies are for other machines only; `trust_env` would use one for this machine, too.
    return httpx.Client(verify=trusted, timeout=timeout, trust_env=not endpoint.local, follow_redirects=False)


@cache
def _trusted() -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context()  # 20 ms


def _is_offline(error: BaseException | None) -> bool:
    """True if the name of a server, or the way to it, is not known: most likely there is no network."""
    while error is not None:
        if isinstance(error, socket.gaierror) or (isinstance(error, OSError) and error.errno in _NO_WAY):
            return True
        error = error.__cause__ or error.__context__
    return False


def _fault(error: Exception, endpoint: Endpoint) -> _Failed:
    import httpx

    detail = str(error) or type(error).__name__
    if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
        return _Failed("silent", Sentence("not a byte for {seconds:g} s", seconds=endpoint.timeout))
    if isinstance(error, httpx.ConnectTimeout):
        seconds = min(CONNECT_SECONDS, endpoint.timeout)
        return _Failed("connect", Sentence("no connection within {seconds:g} s", seconds=seconds))
    if isinstance(error, httpx.ConnectError):
        if "CERTIFICATE_VERIFY_FAILED" in detail:
            return _Failed("certificate", detail)
        if _is_offline(error):
            return _Failed("offline", detail)
        return _Failed("refused" if "refused" in detail.lower() else "connect", detail)
    if isinstance(error, httpx.ProxyError | httpx.InvalidURL | ImportError | ValueError):
        return _Failed("proxy", "")  # its message may hold the proxy's password; our own address has been checked
    if isinstance(error, httpx.TransportError | OSError):
        return _Failed("broken", detail)
    return _Failed("bug", type(error).__name__)
