"""A vault with a daemon at work in this process and a port, and Debian's Chromium to look at it."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from agent.daemon import Live
from agent.interfaces.http.door.browsers import browsers_of, load_token
from agent.interfaces.http.door.sign_in import SignIn
from agent.workspace.workspace import Workspace
from tests.interfaces.http.doors import at_work, wait_until
from tests.stories.agents import NOTES

PATIENCE = 90.0
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first that there is: the one without windows opens a page in a fifth of the processor time."""
WIDTHS = (360, 768, 1280)


@dataclass
class House:
    """One vault with its daemon; `url` is that of its port, without a slash at its end, `link` signs a browser in."""

    live: Live
    url: str
    link: str
    asked: list[str] = field(default_factory=list)
    """The addresses of the answers to what was asked."""

    @property
    def workspace(self) -> Workspace:
        return self.live.workspace

    @property
    def root(self) -> Path:
        return self.workspace.vault.place.root

    def fetch(self, path: str) -> str:
        """What the server answers with a token; raises for an error."""
        token = {"Authorization": f"Bearer {load_token(self.workspace)}", "Accept": "text/html"}
        with urlopen(Request(self.url + path, headers=token), timeout=60) as response:
            return str(response.read().decode("utf-8"))

    def reports(self) -> int:
        """How many violations of the content policy browsers have reported."""
        return int(json.loads(self.fetch("/content-policy-reports"))["count"])

    def post(self, path: str, **fields: str) -> str:
        """Send a form as htmx does; returns where the browser would go on."""
        headers = {"Authorization": f"Bearer {load_token(self.workspace)}", "HX-Request": "true"}
        request = Request(self.url + path, urlencode(fields).encode(), headers, method="POST")
        with urlopen(request, timeout=60) as response:
            return str(response.headers.get("HX-Redirect", ""))

    def ask(self, task: str) -> str:
        """The address of an answer that is whole, or waits for its person."""
        address = self.post("/ask", task=task)
        self.asked.append(address)
        self.until(lambda: 'class="is-over"' in self.fetch(address), f"there is an answer to: {task}")
        return address

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something is so."""
        wait_until(holds, what)


@contextmanager
def open_house(folder: Path, notes: Mapping[str, str] = NOTES, *replies: object) -> Iterator[House]:
    """A daemon at work on a vault with these notes, whose model speaks from a script, until the end of the block."""
    with at_work(folder, notes, *replies) as (live, port):
        yield House(live, port.url.rstrip("/"), port.open)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Debian's Chromium; a machine without it skips the test and says so."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine (Debian: apt-get install chromium-headless-shell)")
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Seen:
    """An open page and what its console said: `problems` are errors, `ran` counts what a payload has executed."""

    page: Page
    context: BrowserContext
    problems: list[str]
    ran: list[str]


@contextmanager
def signed_in(
    browser: Browser, house: House, width: int = 1280, scheme: str = "light", language: str = "", height: int = 900
) -> Iterator[Seen]:
    """A page of a browser that is signed in."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
    )
    sign_in = SignIn(load_token(house.workspace), house.workspace.clock, browsers_of(house.workspace))
    port = httpx.URL(house.url).port or 0
    cookies = {sign_in.cookie_name(port): sign_in.enter(port, ""), **({"language": language} if language else {})}
    context.add_cookies([{"name": name, "value": value, "url": house.url} for name, value in cookies.items()])
    ran, problems = list[str](), list[str]()
    context.expose_function("ran", lambda what="": ran.append(str(what)))
    page = context.new_page()
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.set_default_timeout(PATIENCE * 1000)
    try:
        yield Seen(page, context, problems, ran)
    finally:
        context.close()
