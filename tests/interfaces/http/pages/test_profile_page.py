"""The profile on its pages: laid out by a button, read layer by layer, each note rendered and as it is written."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.interfaces.http.pages.house import open_house, signed_in
from tests.stories.agents import NOTES

HEADER = "---\ntype: profile\nlayer: 3\ntitle: Preferences\n---\n"
TASTES = f"{HEADER}# Preferences\n\n- **Drink**: green tea\n- **Music**:\n"


def test_a_profile_is_laid_out_and_read(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/profile")
        expect(page.get_by_text("There is no profile yet")).to_be_visible()
        page.get_by_role("button", name="Lay out the missing notes").click()
        expect(page.get_by_role("heading", name="0 · Base")).to_be_visible()
        expect(page.get_by_role("button", name="Lay out the missing notes")).to_have_count(0)
        assert (house.root / "profile" / "31-preferences.md").is_file()
        (house.root / "profile" / "31-preferences.md").write_text(TASTES)
        expect(page.get_by_text("Drink: green tea")).to_be_visible()
        page.get_by_role("link", name="Preferences").click()
        expect(page.locator(".prose strong").first).to_have_text("Drink")
        page.get_by_role("link", name="Source").click()
        expect(page.get_by_text("- **Drink**: green tea")).to_be_visible()
        assert seen.problems == []
