"""Ctrl-K goes to any page or note, or does something; what the agent does at its time is done when it is asked."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.growth.reflections.desk import JUDGES, says
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.stories.agents import NOTES

BRIEF = (
    "---\ntype: job\nid: morning-briefing\nstatus: paused\non: {cron: '0 9 * * *'}\n---\n# Morning\n\nTell me of tea.\n"
)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    notes = {**NOTES, "garden/Tea plants.md": "# Tea plants\n\nTwo of them.\n", "jobs/morning-briefing.md": BRIEF}
    replies = (says(JUDGES), {"task": "Tell me of tea", "text": "Green tea, says [[tea]]."})
    with open_house(tmp_path_factory.mktemp("palette"), notes, *replies) as found:
        yield found


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    with signed_in(browser, house) as seen:
        yield seen.page
        assert seen.problems == [] and house.reports() == 0


def test_a_note_and_a_page_are_gone_to_by_keys_alone(page: Page, house: House) -> None:
    page.goto(house.url)
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Go to a page or a note")
    expect(palette).to_be_visible()
    page.keyboard.type("plants")
    expect(palette.get_by_role("link", name="Tea plants")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(palette.get_by_role("link", name="Tea plants")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/garden/Tea%20plants.md")
    page.keyboard.press("Control+k")
    page.keyboard.type("graph")
    page.keyboard.press("Enter")
    page.wait_for_url("**/graph")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()


def test_a_briefing_is_asked_for_in_the_words_of_the_job(page: Page, house: House) -> None:
    page.goto(house.url)
    page.locator("main").get_by_role("button", name="Brief me now").click()
    page.wait_for_url("**/ask/*")
    expect(page.locator(".asked")).to_have_text("Tell me of tea.")
    expect(page.locator("#answer")).to_contain_text("Green tea, says tea.")


def test_the_day_is_looked_back_at_and_learned_from(page: Page, house: House) -> None:
    house.ask("Tell me of tea")
    page.goto(house.url)
    page.keyboard.press("Control+k")
    page.keyboard.type("look back")
    page.keyboard.press("Enter")
    page.wait_for_url("**/reflections/**")
    expect(page.locator(".message")).to_contain_text("Looked back at today")
    page.goto(house.url)
    page.locator("main").get_by_role("button", name="Learn now").click()
    expect(page.locator(".message")).to_contain_text("There was nothing new to learn")


def test_what_was_folded_stays_folded_on_the_next_note(page: Page, house: House) -> None:
    (house.root / "a.md").write_text("---\nmood: calm\n---\n# A\n")
    (house.root / "b.md").write_text("---\nmood: brisk\n---\n# B\n")
    house.until(lambda: "brisk" in house.fetch("/notes/b.md"), "both are there")
    page.goto(f"{house.url}/notes/a.md")
    page.get_by_text("Properties").click()
    expect(page.get_by_text("calm")).to_be_hidden()
    page.goto(f"{house.url}/notes/b.md")
    expect(page.get_by_role("heading", name="B")).to_be_visible()
    expect(page.get_by_text("brisk")).to_be_hidden()
