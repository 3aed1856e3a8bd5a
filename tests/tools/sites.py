"""A small server on this machine that stands for the open internet, and the network that leads there."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from agent.clock import SystemClock
from agent.tools.builtin.web import FetchLimits, WebNetwork, web_tools
from agent.tools.tool import RunContext, ToolOutput

PUBLIC = "93.184.215.14"
Answer = bytes | Callable[[socket.socket], None]


def answer(body: bytes | str, *headers: str, status: str = "200 OK", kind: str = "text/html; charset=utf-8") -> bytes:
    data = body.encode() if isinstance(body, str) else body
    head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(data)}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + data


def sent_on(to: str, status: str = "302 Found") -> bytes:
    return f"HTTP/1.1 {status}\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()


@dataclass
class Site:
    """Answers by path; `asked` has the heads of all requests, `dialled` every address that was connected to."""

    answers: Mapping[str, Answer]
    hosts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    dialled: list[tuple[str, int]] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)
    port: int = 0
    trust: ssl.SSLContext | None = None

    def resolve(self, host: str, port: int) -> Sequence[str]:
        self.resolved.append(host)
        return self.hosts.get(host, (PUBLIC,))

    def dial(self, address: str, port: int) -> tuple[str, int]:
        self.dialled.append((address, port))
        return "127.0.0.1", self.port

    @property
    def network(self) -> WebNetwork:
        return WebNetwork(self.resolve, self.dial, self.trust)

    def serve(self, connection: socket.socket) -> None:
        if head := request_head(connection):
            self.asked.append(head.decode("latin-1"))
            path = head.split(b" ", 2)[1].decode("latin-1")
            self.give(connection, path.partition("?")[0])

    def give(self, connection: socket.socket, key: str) -> None:
        """Send the answer of this key."""
        found = self.answers.get(key, answer("not here", status="404 Not Found"))
        if callable(found):
            found(connection)
        else:
            connection.sendall(found)


def request_head(connection: socket.socket) -> bytes:
    """The head of a request; empty if the connection ends before."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65536)
        if not piece:
            return b""
        head += piece
    return head


@contextmanager
def site(
    answers: Mapping[str, Answer],
    hosts: Mapping[str, Sequence[str]] | None = None,
    tls: ssl.SSLContext | None = None,
    trust: ssl.SSLContext | None = None,
) -> Iterator[Site]:
    with served(Site(answers, hosts or {}, trust=trust), tls) as made:
        yield made


AnySite = TypeVar("AnySite", bound=Site)


@contextmanager
def served(made: AnySite, tls: ssl.SSLContext | None = None) -> Iterator[AnySite]:
    """The site behind a port of its own."""
    listening = socket.create_server(("127.0.0.1", 0))
    made.port = listening.getsockname()[1]
    threads: list[threading.Thread] = []

    def handle(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            if tls is None:
                made.serve(connection)
                return
            with tls.wrap_socket(connection, server_side=True) as safe:
                made.serve(safe)

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            thread = threading.Thread(target=handle, args=(connection,), daemon=True)
            threads.append(thread)
            thread.start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield made
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for thread in [accepting, *threads]:
            thread.join(5)
    assert not [thread for thread in threads if thread.is_alive()], "a connection was never let go of"


def fetch(
    network: WebNetwork,
    url: str = "http://example.org/",
    *,
    limits: FetchLimits | None = None,
    secrets: Sequence[str] = (),
    context: RunContext | None = None,
) -> ToolOutput:
    (tool,) = web_tools(SystemClock(), lambda: secrets, network, limits or FetchLimits(seconds=10.0))
    return tool.perform({"url": url}, context or RunContext("r1", "sessions/s.md"))
