"""A conflict is ended on the page of the sync; settings say where they come from and show no secret."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.interfaces.http.pages.house import open_house, signed_in
from tests.stories.agents import NOTES

COPY = "walls (conflict 2026-11-20 laptop).md"
TWO = {"walls.md": "# Walls\n\nWhite.\n", COPY: '---\nconflict_of: "[[walls]]"\n---\n# Walls\n\nGrey.\n'}


@pytest.mark.parametrize(
    ("button", "text"),
    [("Keep the note", "White."), ("Take the other version", "Grey."), ("Keep both in the note", "Grey.")],
)
def test_a_conflict_is_ended_by_a_choice(browser: Browser, tmp_path: Path, button: str, text: str) -> None:
    with open_house(tmp_path, {**NOTES, **TWO}) as house, signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/sync")
        card = page.get_by_role("article").filter(has_text="walls")
        expect(card.locator(".removed")).to_have_text(["-White."])
        expect(card.locator(".added")).to_have_text(["+Grey."])
        card.get_by_role("button", name=button).click()
        expect(page.locator(".message")).to_contain_text("It is one note again")
        house.until(lambda: not (house.root / COPY).exists(), "the copy is gone")
        assert text in (house.root / "walls.md").read_text()
        expect(page.get_by_text("There are none")).to_be_visible()
        assert seen.problems == []


def test_settings_say_where_they_come_from_and_show_no_secret(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_LLM__API_KEY", "sk-very-secret-words-1234")
    monkeypatch.setenv("VAULT_AGENT_CHANNELS__WEBHOOK__URL", "http://me:pw@127.0.0.1:1/")
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/settings")
        row = page.get_by_role("listitem").filter(has_text="llm.api_key")
        expect(row).to_contain_text("***")
        expect(row).to_contain_text("VAULT_AGENT_LLM__API_KEY")
        expect(page.get_by_role("listitem").filter(has_text="channels.webhook.url")).to_contain_text(
            "http://***@127.0.0.1:1/"
        )
        page.get_by_role("link", name="Show the defaults, too").click()
        expect(page.get_by_role("listitem").filter(has_text="vault.language")).to_contain_text("default")
        assert "sk-very-secret" not in page.content()
        assert seen.problems == []
