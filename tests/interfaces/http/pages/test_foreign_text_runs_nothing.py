"""Promise 17 on pages: text of whatever origin, in whatever field, on every page of the table, stays text.

Nothing runs, nothing is styled, nothing is loaded; the browser's reports against the content policy count, too.
"""

from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from agent.interfaces.http.pages.routes import PAGES
from tests.interfaces.http.pages.crawl import Crawl, crawl, deeds, faults, fields, page_of
from tests.interfaces.http.pages.foreign import foreign_notes, replies, say_it_everywhere
from tests.interfaces.http.pages.house import House, Seen, open_house, signed_in
from tests.interfaces.http.pages.scripts import SHAPES, scripts
from tests.stories.agents import NOTES

SIZES = pytest.mark.parametrize(
    ("count", "together", "sources", "opened"),
    [(50, 10, 3, 1), pytest.param(500, 10, 150, 40, marks=pytest.mark.chaos)],
)
_OPEN = "document.querySelectorAll('main details').forEach((each) => { each.open = true })"
_SEND = """([path, values]) => {
  const form = document.createElement("form");
  const nonce = document.querySelector("#live").getAttribute("hx-nonce");
  for (const [name, value] of Object.entries({"hx-post": path, "hx-target": "#messages", "hx-swap": "beforeend",
                                              "hx-nonce": nonce})) form.setAttribute(name, value);
  for (const [name, value] of Object.entries(values)) {
    const field = document.createElement("textarea");
    field.name = name; field.value = value; form.append(field);
  }
  document.querySelector("main").append(form);
  htmx.process(form);
  form.requestSubmit();
}"""


def ran_a_dialog(seen: Seen, dialog: Dialog) -> None:
    seen.ran.append(dialog.message)
    dialog.dismiss()


def look_at(seen: Seen, address: str) -> None:
    """Open a page with all its parts, and go with the mouse over what is drawn."""
    page = seen.page
    page.goto(address)
    page.evaluate(_OPEN)
    expect(page.locator(".htmx-request")).to_have_count(0)
    for drawn in page.locator("main canvas").all():
        box = drawn.bounding_box()
        for step in range(16 if box else 0):
            assert box is not None
            page.mouse.move(
                box["x"] + box["width"] * (step % 4 + 0.5) / 4, box["y"] + box["height"] * (step // 4 + 0.5) / 4
            )


def press_everything(page: Page, house: House, texts: list[str]) -> None:
    """Send a text in every field to every button, so that each refusal is shown with it."""
    names = fields()
    for number, path in enumerate(deeds()):
        page.goto(f"{house.url}/settings")
        with page.expect_response(lambda response: response.request.method == "POST"):
            page.evaluate(_SEND, [path, dict.fromkeys(names, texts[number % len(texts)])])
        page.wait_for_load_state()
        expect(page.locator(".htmx-request")).to_have_count(0)


@SIZES
def test_foreign_text_stays_text_on_every_page(
    browser: Browser, tmp_path: Path, count: int, together: int, sources: int, opened: int
) -> None:
    texts = list(scripts(count))
    with open_house(tmp_path, {**NOTES, **foreign_notes(texts, together)}, *replies(texts)) as house:
        say_it_everywhere(house, texts)
        found = crawl(house, texts, sources)
        assert found.missing == set(), "no page leads there"
        assert found.wrong == []
        with signed_in(browser, house) as seen:
            elsewhere: list[str] = []
            seen.page.on("request", lambda sent: None if sent.url.startswith(house.url) else elsewhere.append(sent.url))
            seen.page.on("dialog", partial(ran_a_dialog, seen))
            for address in _spread(found, opened):
                look_at(seen, house.url + address)
            press_everything(seen.page, house, texts)
            assert seen.ran == []
            assert [each for each in elsewhere if not each.startswith("data:")] == []
            assert [each for each in seen.problems if "status of 4" not in each] == []
        assert house.reports() == 0


def _spread(found: Crawl, most: int) -> list[str]:
    """At most so many addresses of each page, from all that were found."""
    return [address for each in found.addresses.values() for address in each[:: max(1, len(each) // most)][:most]]


def test_every_shape_is_among_the_small_ones_or_the_large_ones() -> None:
    small, large = list(scripts(50)), list(scripts(500))
    assert len(set(small)) == 50 and len(large) == 500 and len(SHAPES) > 60


def test_a_page_that_let_markup_through_would_be_caught(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        seen.page.goto(house.url)
        for text in scripts(len(SHAPES)):
            seen.page.evaluate("(text) => document.querySelector('main').insertAdjacentHTML('beforeend', text)", text)
        house.until(lambda: house.reports() > 5, "the browser has told of them")
        assert seen.ran == []


@pytest.mark.parametrize(
    "planted",
    [
        "<script>ran()</script>", "<img src=x onerror=ran()>", '<p style="color:red">', "<iframe></iframe>",
        '<a href="javascript:ran()">', '<img src="https://evil.example/x">', '<a href="//evil.example">',
        '<div hx-get="/ask">', '<div hx-get="/ask" hx-nonce="x">', '<i data-hx-on:click="x">', "a\u202eb", "a\x1b[8m",
        "<base href='/x'>", '<meta http-equiv="Refresh" content="0">', "<script src=/x.js></script>",
    ],
)  # fmt: skip
def test_a_source_that_let_it_through_would_be_caught(planted: str) -> None:
    page = '<!doctype html><html><script src="/assets/a/b.js" nonce="n"></script><a hx-get="/x" hx-nonce="n">x</a>'
    assert list(faults(f"{page}</html>")) == []
    assert list(faults(f"{page}{planted}</html>")) != []


def test_each_address_has_its_page() -> None:
    for page in PAGES:
        assert page_of(page.path.replace("{", "").replace("}", "").replace(":path", "")) is page
    assert page_of(f"/notes/{quote('a/b c.md')}") is not None and page_of("/nowhere") is None
