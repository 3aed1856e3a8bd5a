"""Skills on their pages: what fits a task, how each did, and one that is rolled back to its earlier text."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from agent.vault.change import Stamp
from tests.interfaces.http.pages.house import open_house, signed_in
from tests.stories.agents import NOTES

OFFERS = "---\nname: offers\ndescription: Compares the offers of craftsmen.\n---\n# Offers\n\nName each price.\n"


def test_a_skill_is_tried_for_a_task(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/skills")
        page.get_by_label("A task, to see which skills fit it").fill("plan my day")
        page.get_by_role("button", name="Try it").click()
        fits = page.get_by_role("article").filter(has_text="daily-planning")
        expect(fits.locator(".tag").first).to_be_visible()
        expect(fits.get_by_role("table")).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 844})
        assert fits.locator(".table").evaluate("(box) => box.scrollWidth - box.clientWidth") == 0, "a part is cut off"
        assert seen.problems == []


def test_a_skill_is_rolled_back_to_the_text_before(browser: Browser, tmp_path: Path) -> None:
    path = "skills/offers/SKILL.md"
    with open_house(tmp_path, {**NOTES, path: OFFERS}) as house, signed_in(browser, house) as seen:
        page, vault = seen.page, house.workspace.vault
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(f"{house.url}/skills/offers")
        expect(page.get_by_text("Name each price.")).to_be_visible()
        expect(page.get_by_role("button", name="Roll back")).to_have_count(0)
        with vault.transaction("offers: shorter", Stamp("agent")) as change:
            change.edit(path, OFFERS.encode(), OFFERS.replace("each price", "nothing").encode())
        page.reload()
        expect(page.get_by_text("Name nothing.")).to_be_visible()
        page.get_by_role("button", name="Roll back").click()
        expect(page.locator(".message")).to_contain_text("Rolled back")
        house.until(lambda: (house.root / path).read_text() == OFFERS, "the earlier text is back")
        assert seen.problems == []
