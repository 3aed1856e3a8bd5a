"""The documentation in the browser: all its pages, in the reader's language, and a search in them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.deeds.documentation import topics
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.stories.agents import NOTES


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("documentation"), NOTES) as found:
        yield found


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    with signed_in(browser, house) as seen:
        yield seen.page
        assert seen.problems == []


def test_every_page_is_listed_and_shown(page: Page, house: House) -> None:
    page.goto(f"{house.url}/documentation")
    for topic in topics("en"):
        expect(page.locator(f"main a[href='/documentation/{topic.name}']")).to_have_text(topic.title)
    page.click("main a[href='/documentation/jobs']")
    expect(page.locator("h1")).to_have_text("Have it do things by itself")
    expect(page.locator("main table").first).to_contain_text("cooldown_seconds")


def test_words_are_found(page: Page, house: House) -> None:
    page.goto(f"{house.url}/documentation")
    page.fill("main input[name=q]", "quiet hours")
    page.press("main input[name=q]", "Enter")
    expect(page.locator("main li", has_text="Quiet hours hold messages back")).to_have_count(1)
    page.fill("main input[name=q]", "zzzzzz")
    page.press("main input[name=q]", "Enter")
    expect(page.locator("main")).to_contain_text("No page has all of these words.")
