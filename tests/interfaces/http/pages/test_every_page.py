"""Every page in both languages, at three widths, light and dark: it fits, breaks no rule of the policy, can be used by
all."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Route, expect

from agent.background.presence_files import state_of
from agent.interfaces.http.pages.frame import REPORTS
from agent.interfaces.http.pages.routes import PAGES
from agent.vault.history.find import commits
from tests.interfaces.http.pages.house import WIDTHS, House, Seen, open_house, signed_in
from tests.interfaces.http.pages.lived import LIVED, REPLIES, addresses, live_a_little
from tests.vaults import git

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text("utf-8")
LOOKS = list(product([(width,) for width in WIDTHS], ("light", "dark"), ("en", "zh")))
SOME = [((360,), "light", "en"), ((768, 1280), "dark", "zh")]
"""In each check every width, scheme and language is looked at once; all together behind `-m chaos`."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("lived"), LIVED, *REPLIES) as found:
        live_a_little(found)
        yield found


def faults(seen: Seen, *rules: str) -> list[str]:
    """The findings of axe-core on the open page; by default of all its rules, and of small targets."""
    only = {"runOnly": list(rules)} if rules else {"rules": {"target-size": {"enabled": True}}}
    found = seen.page.evaluate("(only) => axe.run(document, {resultTypes: ['violations'], ...only})", only)
    return [f"{each['id']}: {node['html'][:200]}" for each in found["violations"] for node in each["nodes"]]


def look_at_all(browser: Browser, house: House, widths: tuple[int, ...], scheme: str, language: str) -> list[str]:
    """What is wrong with the pages in one form, at these widths."""
    wrong: list[str] = []
    with ExitStack() as stack:
        seen = stack.enter_context(signed_in(browser, house, widths[0], scheme, language))
        seen.context.add_init_script(AXE)  # sent once, not with every page: it is half a megabyte
        for address in addresses(house):
            for width in widths:
                if len(widths) > 1:
                    seen.page.set_viewport_size({"width": width, "height": 900})
                if width == widths[0]:
                    seen.page.goto(house.url + address)
                    expect(seen.page.locator("h1").first).to_be_attached()
                over = seen.page.evaluate("document.documentElement.scrollWidth - innerWidth")
                wrong += [f"{address} is {over} pixels too wide at {width}"] if over > 0 else []
            rules = ("color-contrast",) if scheme == "dark" and widths[-1] < 1280 else ()
            wrong += [f"{address}: {each}" for each in faults(seen, *rules)]
        wrong += seen.problems
    return wrong


@pytest.mark.parametrize(
    ("widths", "scheme", "language"),
    [*SOME, *(pytest.param(*look, marks=pytest.mark.chaos) for look in LOOKS if look not in SOME)],
)
def test_pages_fit_and_can_be_used_by_all(
    browser: Browser, house: House, widths: tuple[int, ...], scheme: str, language: str
) -> None:
    before = house.reports()
    assert look_at_all(browser, house, widths, scheme, language) == []
    assert house.reports() == before


def test_what_is_no_page_of_the_menu_can_be_used_by_all(browser: Browser, house: House) -> None:
    with signed_in(browser, house, 320) as seen:
        seen.context.add_init_script(AXE)

        def wrong() -> list[str]:
            expect(seen.page.locator("h1").first).to_be_attached()
            over = seen.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            return faults(seen) + [f"{over} pixels too wide"] * (over > 0)

        seen.page.goto(f"{house.url}/no-such-page")
        assert wrong() == []
        seen.page.goto(f"{house.url}/browsers")
        seen.page.locator("main form[action='/browsers/pair'] button, main [hx-post='/browsers/pair'] button").click()
        expect(seen.page.locator(".code code")).to_be_visible()
        assert wrong() == []
        seen.page.goto(f"{house.url}/capture")
        seen.page.evaluate(
            """() => {
            document.body.insertAdjacentHTML('beforeend', '<form id=sheet action=/share method=post '
                + 'enctype=multipart/form-data><input name=text value=Tea></form>');
            document.querySelector('#sheet').submit() }"""
        )
        expect(seen.page.locator("#text")).to_have_value("Tea")
        assert wrong() == []
        seen.context.clear_cookies()
        seen.page.goto(house.url)
        assert wrong() == [] and seen.page.url.rstrip("/") == house.url


def test_every_page_of_the_table_is_among_them(house: House) -> None:
    looked_at = {address.partition("?")[0] for address in addresses(house)}
    plain = {page.path for page in PAGES if "{" not in page.path}
    assert plain <= looked_at
    begun = {page.path.partition("{")[0] for page in PAGES if "{" in page.path}
    assert {start for start in begun if not any(each.startswith(start) for each in looked_at)} == set()


def test_a_broken_rule_is_noticed(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        seen.page.goto(house.url)
        before = house.reports()
        seen.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"ran()\"><input>')")
        house.until(lambda: house.reports() > before, f"the browser has told {REPORTS}")
        assert seen.ran == []
        seen.page.evaluate(AXE)
        assert any("label" in each for each in faults(seen))


def test_a_change_in_the_vault_is_seen_within_two_seconds(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/notes/paint.md")
        waits: list[float] = []
        for colour in ("Blue", "Green", "White"):  # a busy machine may be late once, not always
            began = time.monotonic()
            (house.root / "paint.md").write_text(f"# Paint\n\n{colour} after all.\n")
            expect(page.get_by_text(f"{colour} after all")).to_be_visible()
            waits.append(time.monotonic() - began)
        assert min(waits) <= 2


def test_a_change_while_the_page_is_on_its_way_is_seen(browser: Browser, house: House) -> None:
    def late(route: Route) -> None:
        (house.root / "paint.md").write_text("# Paint\n\nRed, said late.\n")
        house.until(lambda: "said late" in git(house.root, "show", "HEAD:paint.md"), "the change is committed")
        route.continue_()

    with signed_in(browser, house) as seen:
        page = seen.page
        page.route("**/api/v1/events*", late, times=1)
        page.goto(f"{house.url}/notes/paint.md")
        expect(page.get_by_text("said late")).to_be_visible()


def test_a_page_listens_though_a_script_comes_late(browser: Browser, house: House) -> None:
    held: list[Route] = []
    with signed_in(browser, house) as seen:
        page = seen.page
        page.route("**/hx-sse.min.js", lambda route: held.append(route))
        page.goto(f"{house.url}/notes/paint.md", wait_until="commit")
        page.wait_for_function("() => window.htmx && new Promise((done) => setTimeout(done, 50, true))")
        held[0].continue_()
        (house.root / "paint.md").write_text("# Paint\n\nPink, and no script missed it.\n")
        expect(page.get_by_text("no script missed it")).to_be_visible()


def test_a_page_whose_daemon_is_gone_says_so_until_it_is_back(browser: Browser, house: House) -> None:
    streams: list[str] = []

    def stream(route: Route) -> None:
        streams.append(route.request.url)
        if len(streams) == 1:
            route.fulfill(status=200, content_type="text/event-stream", body=": and this was all\n\n")
        elif is_gone:
            route.abort("connectionrefused")
        else:
            route.continue_()

    is_gone = True
    with signed_in(browser, house) as seen:
        page = seen.page
        page.route("**/api/v1/events*", stream)
        page.goto(f"{house.url}/status")
        expect(page.locator(".message.problem")).to_contain_text("The server does not answer.")
        is_gone = False
        expect(page.locator(".message.problem")).to_have_count(0)


def test_a_note_shows_which_notes_link_to_it_as_they_come(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/notes/garden/beds.md")
        expect(page.locator("#backlinks").get_by_role("link", name="roof")).to_be_visible()
        (house.root / "new.md").write_text("# New\n\nSee [the beds](garden/beds.md).\n")
        expect(page.locator("#backlinks").get_by_role("link", name="new")).to_be_visible()
        assert page.title() == "beds · vault-agent", "what is fetched for a part of the page leaves its title alone"


@pytest.mark.parametrize(
    ("address", "part", "title"),
    [
        ("/notes/garden/beds.md", "#backlinks a >> nth=0", "beds · vault-agent"),
        ("/graph", "#graph-notes a >> nth=0", "Graph · vault-agent"),
    ],
)
def test_a_part_that_comes_later_does_not_name_the_page(
    browser: Browser, house: House, address: str, part: str, title: str
) -> None:
    with signed_in(browser, house) as seen:
        seen.page.goto(house.url + address)
        expect(seen.page.locator(part)).to_be_visible()
        assert seen.page.title() == title


def test_keys_go_to_pages_and_show_what_there_is(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        page = seen.page
        page.goto(house.url)
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.press("s")
        page.wait_for_url("**/status")
        page.keyboard.press("/")
        page.keyboard.type("roof")
        page.keyboard.press("Enter")
        page.wait_for_url("**/notes?q=roof")
        expect(page.get_by_role("link", name="The roof").first).to_be_visible()
        page.goto(house.url)
        page.get_by_role("textbox", name="What do you want").fill("What did we decide about the roof?")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/ask/*")


def test_the_look_is_chosen_and_kept(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/status")
        page.locator(".side").get_by_role("button", name="Dark").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.locator(".side").get_by_role("button", name="中文").click()
        expect(page.get_by_role("heading", name="状态", exact=True)).to_be_visible()
        assert page.url.endswith("/status")
        page.goto(f"{house.url}/today")
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")


def test_what_a_change_was_is_said_in_the_readers_language(browser: Browser, house: House) -> None:
    commit = next(each.id for each in commits(house.workspace.vault, path="house/roof.md", limit=1))
    for language, words in (("en", "section changed: The roof"), ("zh", "修改小节：The roof")):
        with signed_in(browser, house, language=language) as seen:
            seen.page.goto(f"{house.url}/changes/{commit}")
            expect(seen.page.get_by_text(words)).to_be_visible()


def test_what_is_not_there_says_what_to_do(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        seen.page.goto(f"{house.url}/notes/nowhere.md")
        expect(seen.page.get_by_text("no note has the path or id nowhere.md")).to_be_visible()
        expect(seen.page.get_by_text("vault-agent search WORDS")).to_be_visible()
        seen.page.goto(f"{house.url}/changes/zzz")
        expect(seen.page.get_by_text("there is no commit zzz")).to_be_visible()
        seen.page.goto(f"{house.url}/today?day=yesterdayish")
        expect(seen.page.get_by_text("is not a day")).to_be_visible()
        seen.page.goto(f"{house.url}/memory/forget?name=xylophones%20in%20the%20attic")
        expect(seen.page.get_by_text("no note of the agent's says it")).to_be_visible()


def test_a_phone_reaches_every_page_with_a_thumb(browser: Browser, house: House) -> None:
    with signed_in(browser, house, 360, height=640) as seen:
        page = seen.page
        page.goto(house.url)
        page.locator(".tabs").get_by_text("More").click()
        page.locator(".tabs").get_by_role("link", name="Status").click()
        expect(page.get_by_role("heading", name="Status", exact=True)).to_be_visible()
        small = page.evaluate(
            "[...document.querySelectorAll('.tabs a, .tabs summary, main button')].filter((each) => each.offsetHeight"
            " && Math.min(each.offsetHeight, each.offsetWidth) < 36).map((each) => each.outerHTML)"
        )
        assert small == []


def test_a_link_signs_a_browser_in_once(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path) as house:  # a link of now: it lives for one minute
        for heading in ("What do you want to know", ""):
            context = browser.new_context()
            page = context.new_page()
            page.goto(house.link)
            if heading:
                expect(page.get_by_role("heading", name=heading)).to_be_visible()
                page.goto(house.link)
                expect(page.get_by_role("heading", name=heading)).to_be_visible()
            else:
                expect(page.get_by_text("this link does not work any more")).to_be_visible()
            context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_who_is_not_signed_in_is_told_how_on_a_page_to_read(
    browser: Browser, house: House, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 640}, color_scheme=scheme)
    page, problems = context.new_page(), list[str]()
    page.on("console", lambda said: problems.append(said.text))
    context.add_init_script(AXE)
    for address in ("/notes", "/open/of-yesterday"):
        page.goto(house.url + address)
        expect(page.get_by_role("heading", name="That did not work")).to_be_visible()
        expect(page.get_by_text("vault-agent serve --open")).to_be_visible()
        assert faults(Seen(page, context, [], [])) == []
        left = page.evaluate("document.querySelector('h1').getBoundingClientRect().left")
        assert left > 16, "its style is used"
    assert [each for each in problems if "status of 40" not in each] == []
    context.close()


def test_forms_do_their_work_without_scripts_too(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        cookies = seen.context.cookies()
    context = browser.new_context(java_script_enabled=False)
    kept = [{"name": each["name"], "value": each["value"], "url": house.url} for each in cookies]
    context.add_cookies(kept)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{house.url}/status")
    page.get_by_role("button", name="Wake").click()
    page.wait_for_url(f"{house.url}/status")
    house.until(lambda: getattr(state_of(house.workspace.vault), "state", "") == "awake", "it is awake")
    page.goto(f"{house.url}/new-job?from=jobs")
    page.get_by_label("When, one line each").fill("never")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("the time is not clear")).to_be_visible()
    page.get_by_role("link", name="Try again").click()
    page.wait_for_url(f"{house.url}/new-job?from=jobs")
    context.close()
