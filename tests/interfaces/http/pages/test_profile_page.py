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
        assert seen.problems == []


def test_a_note_is_changed_and_an_older_version_is_refused_with_both(browser: Browser, tmp_path: Path) -> None:
    path = "profile/31-preferences.md"
    with open_house(tmp_path, {**NOTES, path: TASTES}) as house, signed_in(browser, house, 390) as seen:
        page, note = seen.page, house.root / path
        page.goto(f"{house.url}/notes/profile/31-preferences.md")
        page.get_by_role("link", name="Edit", exact=True).click()
        field = page.get_by_label(path)
        expect(field).to_have_value(TASTES)
        field.fill("---\ntype: [profile\n---\nno header\n")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#refused .notice")).to_be_visible()
        field.fill(TASTES.replace("green tea", "black tea"))
        note.write_text(TASTES + "- **Sport**: none\n")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#refused")).to_contain_text("has changed since you opened it")
        expect(page.locator("#refused .removed").last).to_have_text("-- **Sport**: none")
        assert "Sport" in note.read_text()
        page.get_by_role("button", name="Write mine").click()
        page.wait_for_url("**/notes/profile/31-preferences.md")
        expect(page.locator(".message")).to_contain_text("Saved")
        assert note.read_text() == TASTES.replace("green tea", "black tea")
        assert [each for each in seen.problems if "status of 4" not in each] == []
