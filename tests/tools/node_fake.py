"""A node host written by hand: keeps the contract as far as a client sees it, and can be slow, old or away."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

TOKEN = "token-of-the-fake-host"


def listing(name: str, permission: str | None = None, **more: Any) -> dict[str, Any]:
    """A tool as a host lists it."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}
    return {"name": name, "description": f"does {name}", "parameters": schema, "permission": permission} | more


@dataclass
class FakeNode:
    """What the host answers; `asked` are the bodies of the calls that it got."""

    api: int = 1
    tools: list[dict[str, Any]] = field(default_factory=lambda: [listing("clipboard")])
    permissions: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    answer: dict[str, Any] = field(default_factory=lambda: {"output": "copied words", "files": []})
    asked: list[dict[str, Any]] = field(default_factory=list)
    frozen: Event = field(default_factory=Event)
    thaw: Event = field(default_factory=Event)
    port: int = 0
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def come(self) -> None:
        """Begin to answer, on the port of before."""
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                return

            def do_GET(self) -> None:
                fake.reply(self)

            def do_POST(self) -> None:
                fake.reply(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_port
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def go(self) -> None:
        """End: connections are refused from now on."""
        if self._server is not None:
            self.thaw.set()
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def reply(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        length = int(request.headers.get("content-length") or 0)
        body = request.rfile.read(length)
        if self.frozen.is_set():
            self.thaw.wait(20)
            request.close_connection = True
            return
        status, document = self._document(request, body)
        data = json.dumps(document).encode()
        request.send_response(status)
        request.send_header("content-length", str(len(data)))
        request.send_header("connection", "close")
        request.end_headers()
        request.wfile.write(data)
        request.close_connection = True

    def _document(self, request: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, Any]]:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return 401, {"code": "wrong_token", "detail": "wrong"}
        match request.path.rpartition("/")[2]:
            case "version":
                return (200, {"api": self.api}) if self.api else (404, {})
            case "tools":
                return 200, {"tools": self.tools}
            case "permissions":
                return 200, self.permissions
        self.asked.append({"path": request.path, **json.loads(body)})
        return self.status, self.answer


@contextmanager
def fake_node(**given: Any) -> Iterator[FakeNode]:
    """A host that answers, until the end of the block."""
    fake = FakeNode(**given)
    fake.come()
    try:
        yield fake
    finally:
        fake.go()
