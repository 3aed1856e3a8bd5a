"""A git server on loopback that misbehaves as told: git's own `http-backend` behind a small HTTP server.

A script names faults in order; each is used up by the first request that it is for. Requests without a fault are
answered by git. Only the clean state of the bare repository counts for a test, never what this server believes.
"""

import base64
import os
import shutil
import ssl
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NAME = "vault.git"
CREDENTIALS = ("carol", "pass word")


class Step(StrEnum):
    """What a request is for. A fetch asks for LISTED, then FETCHED; a push for ANNOUNCED, then PUSHED."""

    LISTED = "listed"
    FETCHED = "fetched"
    ANNOUNCED = "announced"
    PUSHED = "pushed"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Answer:
    """What git answers to a request."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(slots=True)
class Visit:
    """One request, for the part that is played on it."""

    server: "GitServer"
    handler: BaseHTTPRequestHandler
    body: bytes
    step: Step

    def git(self, *settings: tuple[str, str], root: Path | None = None) -> Answer:
        """git's own answer: a push is stored when this returns."""
        path, _, query = self.handler.path.partition("?")
        asked = self.handler.headers
        fixed = (("http.receivepack", "true"), ("safe.directory", "*"), ("gc.auto", "0"))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_PROJECT_ROOT": str(root or self.server.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.handler.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": asked.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(self.body)),
            "HTTP_CONTENT_ENCODING": asked.get("Content-Encoding", ""),
            "GIT_PROTOCOL": asked.get("Git-Protocol", ""),
            "REMOTE_USER": CREDENTIALS[0],
            "REMOTE_ADDR": "127.0.0.1",
            "GIT_CONFIG_COUNT": str(len(fixed + settings)),
        }
        for number, (key, value) in enumerate(fixed + settings):
            environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return _parsed(self.server.run(["git", "http-backend"], environment, self.body))

    def send(self, answer: Answer, most: int | None = None) -> None:
        """Send an answer, or only its first `most` bytes: the length that is promised is that of all."""
        self.server.sent.append((self.step, answer.status))
        self.handler.send_response_only(answer.status)
        for name, value in answer.headers:
            self.handler.send_header(name, value)
        self.handler.send_header("Content-Length", str(len(answer.body)))
        self.handler.send_header("Connection", "close")
        self.handler.end_headers()
        self.handler.wfile.write(answer.body if most is None else answer.body[:most])

    def wait(self, seconds: float) -> None:
        """Say nothing for a while, or until the server is closed."""
        self.server.closing.wait(seconds)


Part = Callable[[Visit], None]


@dataclass(slots=True)
class Planned:
    """A fault for one request (or for all, if `lasting`): for the steps in `on`, for any step if there are none."""

    part: Part
    on: tuple[Step, ...] = ()
    lasting: bool = False


@dataclass(slots=True)
class GitServer:
    """The server: `folder` has the bare repository; with `closed`, it wants a login.

    `sent` and `headers` are what it has answered and was asked, `played` the number of requests that met a fault.
    """

    folder: Path
    port: int = 0
    closed: bool = False
    scheme: str = "http"
    script: list[Planned] = field(default_factory=list)
    sent: list[tuple[Step, int]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    played: int = 0
    closing: threading.Event = field(default_factory=threading.Event)
    _running: set["subprocess.Popen[bytes]"] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/{NAME}"

    @property
    def repository(self) -> Path:
        return self.folder / NAME

    @property
    def older(self) -> Path:
        """The folder with the state that `stale` serves."""
        return self.folder / "older"

    def remember(self) -> None:
        """Keep the refs of now, for `stale` to serve later."""
        shutil.rmtree(self.older, ignore_errors=True)
        shutil.copytree(self.repository, self.older / NAME)

    def plan(self, part: Part, *on: Step, lasting: bool = False) -> None:
        """Add a fault to the script."""
        with self._lock:
            self.script.append(Planned(part, on, lasting))

    def heal(self) -> None:
        """Forget all faults."""
        with self._lock:
            self.script.clear()

    def part_for(self, step: Step) -> Part:
        with self._lock:
            for planned in self.script:
                if not planned.on or step in planned.on:
                    self.played += 1
                    if not planned.lasting:
                        self.script.remove(planned)
                    return planned.part
        return well

    def run(self, command: list[str], environment: dict[str, str], stdin: bytes) -> bytes:
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
            self._running.add(process)
            try:
                return process.communicate(stdin, timeout=60)[0]
            finally:
                process.kill()
                self._running.discard(process)

    def end(self) -> None:
        """End the git processes and the waiting parts."""
        self.closing.set()
        for process in tuple(self._running):
            process.kill()


def well(visit: Visit) -> None:
    """No fault."""
    visit.send(visit.git())


def status(code: int) -> Part:
    """An answer with this status, without git."""

    def play(visit: Visit) -> None:
        asked = (("WWW-Authenticate", 'Basic realm="vault"'),) if code == 401 else ()
        visit.send(Answer(code, (*asked, ("Content-Type", "text/plain")), b"not now\n"))

    return play


def cut(after: int) -> Part:
    """git's answer, of which only the first bytes arrive. A push is stored: the client cannot know it."""
    return lambda visit: visit.send(visit.git(), after)


def lost(visit: Visit) -> None:
    """The connection ends before git has seen the request."""


def hang(seconds: float) -> Part:
    """No answer for a while, then the end of the connection."""
    return lambda visit: visit.wait(seconds)


def stored_then_hangs(seconds: float) -> Part:
    """git has done all, and the client waits for the answer."""

    def play(visit: Visit) -> None:
        visit.git()
        visit.wait(seconds)

    return play


def stale(visit: Visit) -> None:
    """The refs of an earlier time (`GitServer.remember`)."""
    visit.send(visit.git(root=visit.server.older))


def page(visit: Visit) -> None:
    """What the login page of a network answers to everything."""
    visit.send(Answer(200, (("Content-Type", "text/html"),), b"<html><h1>Welcome to the hotel</h1></html>\n"))


def garbled(at: int) -> Part:
    """git's answer with one byte changed, counted from its end."""

    def play(visit: Visit) -> None:
        answer = visit.git()
        body = bytearray(answer.body)
        if body:
            body[-1 - at % len(body)] ^= 0x55
        visit.send(Answer(answer.status, answer.headers, bytes(body)))

    return play


def refuses(words: str = "no pushes on Sundays") -> Part:
    """A push that is received whole, then refused by a hook."""

    def play(visit: Visit) -> None:
        hook = visit.server.folder / "hooks" / "pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ncat >/dev/null\necho '{words}' >&2\nexit 1\n")
        hook.chmod(0o755)
        visit.send(visit.git(("core.hooksPath", str(hook.parent))))

    return play


def takes_at_most(size: int) -> Part:
    """A push whose pack is larger than the server takes."""
    return lambda visit: visit.send(visit.git(("receive.maxInputSize", str(size))))


@contextmanager
def git_server(folder: Path, object_format: str = "sha1", tls: ssl.SSLContext | None = None) -> Iterator[GitServer]:
    """A server for a new bare repository in `folder`; it is gone, with its threads and processes, afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    shape = f"--object-format={object_format}"
    subprocess.run(["git", "init", "-q", "--bare", shape, "-b", "main", str(folder / NAME)], check=True)
    server = GitServer(folder)
    opened = listening(server)
    if tls is not None:
        server.scheme = "https"
        opened.socket = tls.wrap_socket(opened.socket, server_side=True)
    thread = threading.Thread(target=opened.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        opened.shutdown()
        opened.server_close()  # waits for the threads of the requests
        thread.join(5)


def listening(server: GitServer, address: tuple[str, int] = ("127.0.0.1", 0)) -> "_Listening":
    """The open door of a server, which then answers in `serve_forever`."""
    opened = _Listening(address, _Handler)
    opened.git, server.port = server, opened.server_address[1]
    return opened


class _Listening(ThreadingHTTPServer):
    daemon_threads = False
    git: GitServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has gone is not an error here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 20
    server: _Listening

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._body())

    def _answer(self, body: bytes) -> None:
        self.close_connection = True
        self.server.git.headers.append(dict(self.headers))
        visit = Visit(self.server.git, self, body, _step(self.path, self.headers.get("Content-Encoding", ""), body))
        part = self.server.git.part_for(visit.step)
        if self.server.git.closed and not self._logged_in():
            part = status(401)
        with suppress(OSError):
            part(visit)

    def _logged_in(self) -> bool:
        wanted = base64.b64encode(":".join(CREDENTIALS).encode()).decode()
        return self.headers.get("Authorization", "") == f"Basic {wanted}"

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


def _step(path: str, encoding: str, body: bytes) -> Step:
    if path.endswith("service=git-receive-pack"):
        return Step.ANNOUNCED
    if path.endswith("service=git-upload-pack"):
        return Step.LISTED
    if path.endswith("/git-receive-pack"):
        return Step.PUSHED if body != b"0000" else Step.OTHER
    if path.endswith("/git-upload-pack"):
        plain = zlib.decompress(body, 31) if encoding == "gzip" else body
        return Step.LISTED if b"command=ls-refs" in plain[:40] else Step.FETCHED
    return Step.OTHER


def _parsed(out: bytes) -> Answer:
    head, _, body = out.partition(b"\r\n\r\n")
    rows = [tuple(row.split(": ", 1)) for row in head.decode("latin-1").split("\r\n") if ": " in row]
    code = next((int(row[1].split()[0]) for row in rows if row[0].lower() == "status"), 200)
    return Answer(code, tuple((row[0], row[1]) for row in rows if row[0].lower() != "status"), body)
