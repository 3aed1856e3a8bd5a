"""Model servers on loopback that misbehave as told: each request plays the next part, the last one for ever.

What the program asks a server about itself (`GET`) is answered with 404 and counts nowhere, unless a test is about it.
"""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from agent.llm.messages import JsonObject, mapping, parsed


@dataclass(frozen=True)
class Asked:
    """A request as the server got it."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> JsonObject:
        """The body as JSON."""
        return mapping(parsed(self.body))


@dataclass
class Visit:
    """One connection, for the part that is played on it."""

    connection: socket.socket
    asked: Asked
    closing: threading.Event

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def head(self, status: str = "200 OK", content: str = "text/event-stream", **headers: str) -> None:
        """Begin an answer that ends with the connection."""
        lines = [f"HTTP/1.1 {status}", f"content-type: {content}", "connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send("\r\n".join([*lines, "", ""]).encode())

    def chunk(self, data: bytes) -> None:
        """A piece of an answer that was begun with `transfer_encoding="chunked"`."""
        self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def wait(self, seconds: float) -> None:
        """Say nothing for a while, or until the test is over."""
        self.closing.wait(seconds)


Part = Callable[[Visit], None]


@dataclass
class ModelServer:
    """A server and what it was asked."""

    port: int
    asked: list[Asked] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def model_server(*parts: Part, tells: bool = False) -> Iterator[ModelServer]:
    """A server that plays `parts`, one a request, with `tells` also for questions about itself; it is gone, with its
    threads, when this is left."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)
    server, closing = ModelServer(listener.getsockname()[1]), threading.Event()
    counting = threading.Lock()
    threads: list[threading.Thread] = []
    connections: list[socket.socket] = []

    def choose(asked: Asked) -> Part:
        if asked.line.startswith("GET ") and not tells:
            return _NOTHING_TOLD
        with counting:
            server.asked.append(asked)
            return parts[min(len(server.asked), len(parts)) - 1]

    def accept() -> None:
        while not closing.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connections.append(connection)
            thread = threading.Thread(target=_play, args=(connection, choose, closing), daemon=True)
            threads.append(thread)
            thread.start()

    doorman = threading.Thread(target=accept, daemon=True)
    doorman.start()
    try:
        yield server
    finally:
        closing.set()
        for connection in connections:
            with suppress(OSError):  # wakes a part that sends to nobody
                connection.shutdown(socket.SHUT_RDWR)
        for thread in [doorman, *threads]:
            thread.join(5)
        listener.close()


def _play(connection: socket.socket, choose: Callable[[Asked], Part], closing: threading.Event) -> None:
    with connection, suppress(OSError):
        connection.settimeout(5)
        asked = _read(connection)
        if asked is not None:
            choose(asked)(Visit(connection, asked, closing))
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)


def _read(connection: socket.socket) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    return Asked(first, headers, body)


def streams(*pieces: bytes) -> Part:
    """Answers with these pieces, each sent for itself, and closes."""

    def part(visit: Visit) -> None:
        visit.head()
        for piece in pieces:
            visit.send(piece)

    return part


def answers(status: str, body: bytes, content: str = "application/json", **headers: str) -> Part:
    """Answers with a status and a whole body."""

    def part(visit: Visit) -> None:
        visit.head(status, content, content_length=str(len(body)), **headers)
        visit.send(body)

    return part


_NOTHING_TOLD = answers("404 Not Found", b"{}")


def cuts(*pieces: bytes) -> Part:
    """Begins a chunked answer, sends these pieces and drops the connection in the middle."""

    def part(visit: Visit) -> None:
        visit.head(transfer_encoding="chunked")
        for piece in pieces:
            visit.chunk(piece)

    return part


def is_silent(*pieces: bytes, seconds: float = 30.0) -> Part:
    """Sends these pieces, then nothing more; without any, not even a head."""

    def part(visit: Visit) -> None:
        if pieces:
            visit.head()
        for piece in pieces:
            visit.send(piece)
        visit.wait(seconds)

    return part


def drips(data: bytes, every: float = 0.02) -> Part:
    """Sends one byte after the other, slowly."""

    def part(visit: Visit) -> None:
        visit.head()
        for place in range(len(data)):
            visit.send(data[place : place + 1])
            visit.wait(every)

    return part


def floods(piece: bytes, most: int) -> Part:
    """Sends a piece again and again, up to `most` bytes, as long as anybody listens."""

    def part(visit: Visit) -> None:
        visit.head()
        for _ in range(most // len(piece)):
            visit.send(piece)

    return part


def bytewise(data: bytes) -> Iterable[bytes]:
    """Every byte for itself."""
    return (data[place : place + 1] for place in range(len(data)))
