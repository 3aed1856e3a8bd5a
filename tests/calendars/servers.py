"""A server with one calendar file, and a real CalDAV server, both on this machine."""

import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import httpx
from radicale import config
from radicale.app import Application

USER, PASSWORD = "anna", "walnut-forest-77"


def event(uid: str, *lines: str, title: str = "Tea") -> str:
    """An event as a calendar has it."""
    rows = ("BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20260101T000000Z", f"SUMMARY:{title}", *lines, "END:VEVENT")
    return "\r\n".join(rows)


def calendar(*events: str, head: str = "") -> bytes:
    """A calendar with these events."""
    rows = (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//tests//EN",
        *filter(None, [head]),
        *events,
        "END:VCALENDAR",
        "",
    )
    return "\r\n".join(rows).encode()


@dataclass
class FileServer:
    """Serves `body` at every path, with the headers of `tags`; `asked` are the requests."""

    body: bytes = b""
    tags: dict[str, str] = field(default_factory=dict)
    status: int = 200
    location: str = ""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    port: int = 0
    stall: Callable[[BaseHTTPRequestHandler], object] = lambda handler: None
    """Called between the head of an answer and its body."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/private-0123456789abcdef/basic.ics"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        given = {name.lower(): value for name, value in handler.headers.items()}
        self.asked.append((handler.path, given))
        known = {"ETag": "if-none-match", "Last-Modified": "if-modified-since"}
        same = any(given.get(known.get(name, "")) == value for name, value in self.tags.items())
        status, body = (304, b"") if same and self.status == 200 else (self.status, self.body)
        if self.location and handler.path != self.location:
            status, body = 302, b""
        handler.send_response(status)
        for name, value in self.tags.items():
            handler.send_header(name, value)
        if status == 302:
            handler.send_header("Location", self.location)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        self.stall(handler)
        handler.wfile.write(body)


@contextmanager
def file_server() -> Iterator[FileServer]:
    """A running server."""
    fake = FileServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fake.answer(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        fake.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield fake
        server.shutdown()
        thread.join()


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@dataclass(frozen=True)
class Radicale:
    """A running server with one person."""

    url: str

    def put(self, name: str, uid: str, *lines: str, title: str = "Tea") -> None:
        """Put an event into a calendar of the person, which is made if it is not there."""
        place = f"{self.url}/{USER}/{name}/"
        with httpx.Client(headers={"Authorization": f"Basic {_login()}"}, trust_env=False) as client:
            made = client.request("MKCALENDAR", place)
            assert made.status_code in (201, 405, 409), made.text
            answer = client.put(f"{place}{uid}.ics", content=calendar(event(uid, *lines, title=title)))
            assert answer.status_code in (201, 204), answer.text


def _login() -> str:
    return base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


@contextmanager
def radicale(folder: Path) -> Iterator[Radicale]:
    """The server, with its data in the folder."""
    users = folder / "users"
    users.write_text(f"{USER}:{PASSWORD}\n", "utf-8")
    settings = config.load()
    auth = {"type": "htpasswd", "htpasswd_filename": str(users), "htpasswd_encryption": "plain", "delay": "0"}
    settings.update(
        {"auth": auth, "storage": {"filesystem_folder": str(folder / "data")}, "logging": {"level": "critical"}},
        "tests",
    )
    server = make_server("127.0.0.1", 0, Application(settings), handler_class=_Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield Radicale(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
