"""A page that stays open while things happen leaks nothing: neither in the browser nor in the server."""

import os
from collections.abc import Callable
from itertools import count, islice
from pathlib import Path

import pytest
from playwright.sync_api import Browser, CDPSession, Page

from agent.events.notices import NotificationSuppressed
from tests.interfaces.http.doors import BRISK
from tests.interfaces.http.load import serving
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.stories.agents import NOTES, script, settings
from tests.vaults import make_vault

PAGES = ("/today", "/status", "/notes/tea.md", "/jobs", "/")
"""Each is made anew at each event: with folders, meters, a part that is loaded later, drawings, and forms."""


_CUPS = count()


def in_browser(tools: CDPSession) -> dict[str, float]:
    """What the open page holds after the garbage is collected: bytes of its heap, nodes, listeners, documents."""
    for _ in range(3):
        tools.send("HeapProfiler.collectGarbage")
    found = tools.send("Performance.getMetrics")["metrics"]
    wanted = {"JSHeapUsedSize", "Nodes", "JSEventListeners", "Documents"}
    return {each["name"]: each["value"] for each in found if each["name"] in wanted}


def open_files() -> int:
    """The open files of this process, which is the server: connections among them."""
    return len([*Path("/proc/self/fd").iterdir()])


def let_things_happen(house: House, page: Page, address: str, times: int) -> None:
    """So many events, one after the other, each seen by the open page; the note that it shows is changed each time."""
    for cup in islice(_CUPS, times):
        with page.expect_response(lambda response: response.url == house.url + address):
            if address == "/notes/tea.md":
                (house.root / "tea.md").write_text(f"# Tea\n\nGreen tea, [[plan|cup {cup}]].\n")
            else:
                house.live.bus.publish(NotificationSuppressed(f"n{cup}", "task_due", "held", "quiet"))


BOUNDS: dict[str, Callable[[float], float]] = {
    "Documents": lambda before: before + 1,
    "Nodes": lambda before: before * 1.25 + 200,
    "JSEventListeners": lambda before: before * 1.2 + 20,
    "JSHeapUsedSize": lambda before: before * 1.15 + 300_000,
}


def grown(before: dict[str, float], after: dict[str, float]) -> list[str]:
    """What an open page holds more of than it may."""
    return [name for name, bound in BOUNDS.items() if after[name] > bound(before[name])]


@pytest.mark.parametrize(
    ("address", "times"),
    [("/status", 20), ("/notes/tea.md", 20), *(pytest.param(each, 1_500, marks=pytest.mark.chaos) for each in PAGES)],
)
def test_an_open_page_leaks_nothing(browser: Browser, tmp_path: Path, address: str, times: int) -> None:
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        page = seen.page
        page.goto(house.url + address)
        tools = seen.context.new_cdp_session(page)
        tools.send("Performance.enable")
        let_things_happen(house, page, address, 20)
        before, files = in_browser(tools), open_files()
        let_things_happen(house, page, address, times)
        # what an answer was read into is given back soon, though not at once
        house.until(lambda: not grown(before, in_browser(tools)), "the browser has given back what it held")
        house.until(lambda: open_files() <= files + 4, "what was opened is closed again")
        assert seen.problems == [] and house.reports() == 0


@pytest.mark.chaos
def test_a_server_beside_open_pages_stays_small(browser: Browser, tmp_path: Path) -> None:
    """The server in a process of its own, with a page open for each address, while a note is changed 1,000 times."""
    root = make_vault(tmp_path, NOTES).place.root
    environ = {**os.environ, **settings(tmp_path, script(tmp_path / "said.json")), **BRISK}
    with serving(root, environ) as served:
        context = browser.new_context(extra_http_headers={"Authorization": f"Bearer {served.token}"})
        pages = [context.new_page() for _ in PAGES]
        for page, address in zip(pages, PAGES, strict=True):
            page.goto(f"http://127.0.0.1:{served.port}{address}")
        note, sizes = pages[PAGES.index("/notes/tea.md")], []
        for number in range(1_000):
            with note.expect_response(lambda response: response.url.endswith("/notes/tea.md")):
                (root / "tea.md").write_text(f"# Tea\n\nGreen tea, [[plan|cup {number}]].\n")
            if number % 100 == 99:
                sizes.append(served.megabytes)
        print(sizes)  # noqa: T201 - the figures, for who asks with -s
        assert sizes[-1] < sizes[2] + 10
        context.close()


def test_a_page_that_was_left_holds_nothing_in_the_server(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        seen.page.goto(f"{house.url}/today")
        before = open_files()
        for number in range(12):
            seen.page.goto(f"{house.url}{PAGES[number % len(PAGES)]}")
        seen.page.goto(f"{house.url}/today")
        house.until(lambda: open_files() <= before + 4, "the streams of the pages that were left are closed")
