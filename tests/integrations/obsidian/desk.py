"""A page in which the plugin runs, from a small server that sends requests on as Obsidian's own process does."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, expect

from agent.interfaces.cli.serve import stream_from_daemon
from agent.interfaces.http.door.guard import OBSIDIAN
from tests.interfaces.http.pages.house import PATIENCE, House

HERE = Path(__file__).parent
PLUGIN = Path(__file__).parents[3] / "agent/integrations/obsidian"
_PAGE = """<!doctype html><html><head><meta charset="utf-8"><link rel="icon" href="data:,">
<link rel="stylesheet" href="/styles.css"></head>
<body data-vault="{vault}"><div id="settings"></div><div id="menu"></div><div id="notices"></div>
<div id="pane"></div><div id="status"></div>
<script src="/stand_in.js"></script><script src="/main.js"></script><script src="/start.js"></script></body></html>"""
_START = "window.pluginClass = module.exports.default; window.startPlugin();"
_POLICY = "default-src 'self'; img-src 'self' data:; script-src 'self'; style-src 'self' 'unsafe-inline'"


@dataclass
class Desk:
    """The page with the plugin; `sent` are the addresses that it has asked for, `problems` what its console said."""

    page: Page
    house: House
    url: str
    problems: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    """Methods whose requests do not reach the daemon."""

    def open(self, query: str = "") -> None:
        """Start Obsidian anew."""
        self.page.goto(self.url + query)
        expect(self.page.locator("#status")).not_to_be_empty()

    def sign_in(self) -> None:
        """Pair, as a person does."""
        events = self.type_code()
        expect(self.page.locator("#settings").get_by_role("button", name="Disconnect")).to_be_visible()
        assert [name for name, _ in events] == ["end"]

    def type_code(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Type the address and a new code into the settings, and press the button; the rest of the code's stream."""
        events = stream_from_daemon(self.house.workspace, "/api/v1/pairings", {})
        _, data = next(events)
        self.page.evaluate("standIn.plugin.openSettings()")
        settings = self.page.locator("#settings")
        settings.get_by_label("Address").fill(str(data["urls"][0]))  # type: ignore[index]
        settings.get_by_label("Address").blur()
        settings.get_by_label("Pairing code").fill(str(data["code"]))
        settings.get_by_role("button", name="Connect").click()
        return events

    def open_pane(self) -> None:
        self.page.evaluate("standIn.run('open')")
        expect(self.page.get_by_placeholder("Ask the agent…")).to_be_visible()

    def ask(self, task: str) -> None:
        self.page.get_by_placeholder("Ask the agent…").fill(task)
        self.page.get_by_role("button", name="Send").click()


@contextmanager
def desk(browser: Browser, house: House) -> Iterator[Desk]:
    """A desk at which the plugin is switched on and not connected yet."""
    refused = set[str]()
    with _served(house, refused) as (url, sent):
        context = browser.new_context(viewport={"width": 900, "height": 900})
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        found = Desk(page, house, url, sent=sent, refused=refused)
        page.on("console", lambda said: found.problems.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: found.problems.append(str(error)))
        try:
            yield found
        finally:
            context.close()


@contextmanager
def _served(house: House, refused: set[str]) -> Iterator[tuple[str, list[str]]]:
    sent = list[str]()
    files = {
        "/stand_in.js": (HERE / "stand_in.js").read_text("utf-8"),
        "/main.js": (PLUGIN / "main.js").read_text("utf-8"),
        "/start.js": _START,
        "/styles.css": (PLUGIN / "styles.css").read_text("utf-8"),
    }

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            kind = {"js": "text/javascript", "css": "text/css"}.get(path.rpartition(".")[2], "text/html")
            self._answer(files.get(path, _PAGE.format(vault=house.root.name)), f"{kind}; charset=utf-8")

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answers = {"/request": self._request, "/create": self._create, "/read": self._read}
            self._answer(json.dumps(answers[self.path](asked)), "application/json")

        def _request(self, asked: dict[str, Any]) -> dict[str, object]:
            sent.append(asked["url"])
            headers = {**asked.get("headers", {}), "Origin": OBSIDIAN}  # which Obsidian may send or not
            if kind := asked.get("contentType"):
                headers["Content-Type"] = kind
            url = "http://127.0.0.1:9/" if asked["method"] in refused else asked["url"]
            try:
                with httpx.Client(timeout=60) as client:
                    got = client.request(asked["method"], url, headers=headers, content=asked.get("body"))
            except httpx.HTTPError as error:
                return {"error": str(error)}
            return {"status": got.status_code, "text": got.text}

        def _create(self, asked: dict[str, str]) -> dict[str, object]:
            file = house.root / asked["path"]
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x") as opened:
                opened.write(asked["text"])
            return {}

        def _read(self, asked: dict[str, str]) -> dict[str, object]:
            return {"text": (house.root / asked["path"]).read_text("utf-8")}

        def _answer(self, text: str, kind: str) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Content-Security-Policy", _POLICY)
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
