"""A page that stays open while things happen leaks nothing: neither in the browser nor in the server."""

from itertools import count, islice
from pathlib import Path

import pytest
from playwright.sync_api import Browser, CDPSession, Page

from agent.events.notices import NotificationSuppressed
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.stories.agents import NOTES

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


def in_server() -> dict[str, float]:
    """What this process, which is the server, holds: resident megabytes and open files, connections among them."""
    status = Path("/proc/self/status").read_text()
    kilobytes = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return {"megabytes": kilobytes / 1_000, "files": len([*Path("/proc/self/fd").iterdir()])}


def let_things_happen(house: House, page: Page, address: str, times: int) -> None:
    """So many events, one after the other, each seen by the open page; the note that it shows is changed each time."""
    for cup in islice(_CUPS, times):
        with page.expect_response(lambda response: response.url == house.url + address):
            if address == "/notes/tea.md":
                (house.root / "tea.md").write_text(f"# Tea\n\nGreen tea, [[plan|cup {cup}]].\n")
            else:
                house.live.bus.publish(NotificationSuppressed(f"n{cup}", "task_due", "held", "quiet"))


LONG = 1_500


@pytest.mark.parametrize(
    ("address", "times"),
    [("/status", 40), ("/notes/tea.md", 20), *(pytest.param(each, LONG, marks=pytest.mark.chaos) for each in PAGES)],
)
def test_an_open_page_leaks_nothing(browser: Browser, tmp_path: Path, address: str, times: int) -> None:
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        page = seen.page
        page.goto(house.url + address)
        tools = seen.context.new_cdp_session(page)
        tools.send("Performance.enable")
        let_things_happen(house, page, address, 20)
        before, server = in_browser(tools), in_server()
        let_things_happen(house, page, address, times)
        after, served = in_browser(tools), in_server()
        print(address, times, before, after, server, served)  # noqa: T201 - the figures, for who asks with -s
        assert after["Documents"] <= before["Documents"] + 1
        assert after["Nodes"] < before["Nodes"] * 1.25 + 200
        assert after["JSEventListeners"] < before["JSEventListeners"] * 1.2 + 20
        assert after["JSHeapUsedSize"] < before["JSHeapUsedSize"] * 1.15 + 300_000
        house.until(lambda: in_server()["files"] <= server["files"] + 4, "what was opened is closed again")
        if times >= LONG:  # before that, the writer of the search index takes its memory, and the test's own browser
            assert served["megabytes"] < server["megabytes"] + 30
        assert seen.problems == [] and house.reports() == 0


def test_a_page_that_was_left_holds_nothing_in_the_server(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        seen.page.goto(f"{house.url}/today")
        before = in_server()["files"]
        for number in range(12):
            seen.page.goto(f"{house.url}{PAGES[number % len(PAGES)]}")
        seen.page.goto(f"{house.url}/today")
        house.until(lambda: in_server()["files"] <= before + 4, "the streams of the pages that were left are closed")
