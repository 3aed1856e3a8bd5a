"""Search services on this machine that answer as Brave, Tavily and SearXNG do: real HTTP, with a key and a limit of
searches in a second."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, TypeAlias
from urllib.parse import parse_qs, urlsplit

from agent.llm.messages import Json

ServiceName: TypeAlias = Literal["brave", "tavily", "searxng"]
KEY = "BSA-0123456789-key"
FOUND = (
    ("https://one.example/bridge", "The <strong>bridge</strong> &amp; its arch", "It was built in 1891.", "2024-05-06"),
    ("https://two.example/river", "The river", "It floods in spring.", "not a day"),
    ("https://one.example/bridge", "The bridge again", "The same address.", ""),
    ("ftp://three.example/old", "No page of the web", "Left out.", ""),
)


@dataclass
class Service:
    """One service: `asked` has each request (method, path, headers, body). `limited` requests are answered with 429 and
    `wait`; `body` and `status` are what it answers instead of results; requests wait until it is `free`."""

    name: ServiceName
    url: str = ""
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    limited: int = 0
    wait: str = ""
    body: bytes | None = None
    status: int = 200
    free: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.free.set()

    def hold(self) -> None:
        """Let all requests wait."""
        self.free.clear()

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the answer to a request."""
        self.asked.append((method, path, headers, body))
        if (refused := self._refused(headers)) is not None:
            return refused, {}, json.dumps({"error": {"detail": f"the key {KEY} does not count"}}).encode()
        if self.limited:
            self.limited -= 1
            return 429, {"retry-after": self.wait} if self.wait else {}, b'{"error": "too many"}'
        if self.body is not None or self.status != 200:
            return self.status, {}, self.body or b"{}"
        return 200, {}, json.dumps(self._results(method, path, body)).encode()

    def _refused(self, headers: dict[str, str]) -> int | None:
        match self.name:
            case "brave":
                return None if headers.get("x-subscription-token") == KEY else 422
            case "tavily":
                return None if headers.get("authorization") == f"Bearer {KEY}" else 401
            case "searxng":
                return None

    def _results(self, method: str, path: str, body: bytes) -> Json:
        asked = urlsplit(path)
        if self.name == "brave":
            assert (method, asked.path) == ("GET", "/res/v1/web/search") and int(
                parse_qs(asked.query)["count"][0]
            ) <= 20
            rows = [{"url": url, "title": title, "description": words, "page_age": f"{day}T00:00:00"}
                    for url, title, words, day in FOUND]  # fmt: skip
            return {"type": "search", "web": {"type": "search", "results": rows}}
        if self.name == "tavily":
            assert (method, asked.path) == ("POST", "/search") and json.loads(body)["max_results"] <= 20
        else:
            assert asked.path == "/search" and parse_qs(asked.query)["format"] == ["json"]
        key = "published_date" if self.name == "tavily" else "publishedDate"
        rows = [{"url": url, "title": title, "content": words, key: day} for url, title, words, day in FOUND]
        return {"query": "bridge", "results": rows}


@contextmanager
def service(name: ServiceName) -> Iterator[Service]:
    """A service that runs until the end of the block."""
    made = Service(name)

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {key.lower(): value for key, value in self.headers.items()}
            made.free.wait(60)
            status, more, data = made.answer(self.command, self.path, headers, body)
            self.send_response(status)
            for key, value in {**more, "content-type": "application/json", "content-length": str(len(data))}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _do

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    serving = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    serving.start()
    try:
        yield made
    finally:
        made.free.set()
        server.shutdown()
        server.server_close()
        serving.join(5)
