"""A base for local HTTP servers that speak a service's protocol, and misbehave when they are told to."""

import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, TypeAlias
from urllib.parse import parse_qs, urlsplit

from agent.llm.messages import JsonObject, mapping, parsed

Fault: TypeAlias = Literal["busy", "broken", "silent", "cut", "cut after", "moved", "page", "flood", "wrong"]
"""What happens to one request in place of the service's answer.

`busy`: too many requests, wait. `broken`: an error of the server. `silent`: nothing at all. `cut`: the connection ends
before the request was acted on; `cut after`: after the service has acted on it. `moved`: it sends on to another server.
`page`: the login page of a network. `flood`: an answer without an end. `wrong`: an answer that is not the service's.
"""

ASKED_WAIT = 7
"""The seconds that a busy server asks for."""
_FLOOD = 64 * 1024 * 1024


@dataclass(frozen=True)
class Called:
    """A request as the server got it; names of headers in small letters."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> JsonObject:
        """The body as JSON."""
        return mapping(parsed(self.body))


@dataclass(frozen=True)
class Answered:
    """What a service answers: JSON, or the bytes of `body`."""

    status: int = 200
    document: object = None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


Service: TypeAlias = Callable[[Called], Answered]


@dataclass
class LocalService:
    """A running server: what it was asked, and the faults that the next requests meet, in order."""

    port: int
    calls: list[Called] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    closing: threading.Event = field(default_factory=threading.Event)
    elsewhere: list[Called] = field(default_factory=list)
    """What reached the server to which `moved` sends on."""

    busy: Callable[[], Answered] | None = None
    """The service's own way of saying that there were too many requests; None: 429 with Retry-After."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def local_service(service: Service) -> Iterator[LocalService]:
    """A server on loopback that answers as `service` does; it is gone, with its threads, when this is left."""
    with _serving(lambda called: Answered()) as (other, others), _serving(service) as (local, _):
        local.elsewhere = others
        _MOVED_TO[local.port] = other.url
        try:
            yield local
        finally:
            del _MOVED_TO[local.port]


_MOVED_TO: dict[int, str] = {}


@contextmanager
def _serving(service: Service) -> Iterator[tuple[LocalService, list[Called]]]:
    local = LocalService(0)

    class Handler(_Handler):
        state = local
        answer = staticmethod(service)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    local.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield local, local.calls
    finally:
        local.closing.set()
        server.shutdown()
        thread.join(5)
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    state: LocalService
    answer: Service

    def do_POST(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            called = self._called()
            self.state.calls.append(called)
            fault = self.state.faults.popleft() if self.state.faults else None
            if fault in (None, "cut after"):
                answered = type(self).answer(called)
                if fault is None:
                    self._say(answered)
                    return
            self._misbehave(fault)

    def _called(self) -> Called:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Called(self.command, parts.path, query, headers, body)

    def _misbehave(self, fault: Fault | None) -> None:
        match fault:
            case "busy":
                busy = self.state.busy
                self._say(busy() if busy else Answered(429, {}, headers={"retry-after": str(ASKED_WAIT)}))
            case "broken":
                self._say(Answered(500, {"error": "out of order"}))
            case "silent":
                self.state.closing.wait(30)
            case "cut" | "cut after":
                self._hang_up()
            case "moved":
                self._say(Answered(302, {}, headers={"location": _MOVED_TO[self.state.port] + self.path}))
            case "page":
                page = b"<!doctype html><title>Hotel</title>"
                self._say(Answered(200, body=page, headers={"content-type": "text/html"}))
            case "flood":
                self._flood()
            case "wrong" | None:
                self._say(Answered(200, body=b'{"cut": '))

    def _hang_up(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{")
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def _flood(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        for _ in range(_FLOOD // 65536):
            self.wfile.write(b" " * 65536)

    def _say(self, answered: Answered) -> None:
        body = answered.body if answered.document is None else json.dumps(answered.document).encode()
        self.send_response(answered.status)
        headers = {"content-type": "application/json", "content-length": str(len(body)), **answered.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
