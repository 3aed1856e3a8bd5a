"""All conversations stand beside the field, from whatever channel; each has a page, where it goes on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from agent.deeds.conversations import conversations
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.stories.agents import NOTES, call, only

LOOKED = {"task": "which tea", **call("vault_read", path="tea.md")}
SAID = {"task": "which tea", "text": "Green, says [[tea]]."}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path, NOTES, LOOKED, SAID, {"task": "and cups", "text": "Two."}) as found:
        yield found


def of_telegram(house: House) -> None:
    """The same conversation once more, as if it had come by Telegram, and as the work of a job."""
    note = only(list((house.root / "sessions").rglob("*.md")))
    text = note.read_text("utf-8")
    id = next(line.removeprefix("id: ") for line in text.splitlines() if line.startswith("id: "))
    other = text.replace(id, house.workspace.clock.new_id()).replace("channel: http", "channel: telegram")
    note.with_name("2026-11-20 From far.md").write_text(other, "utf-8")
    job = other.replace('"channel": "http"', '"channel": "job", "job": "brief"')
    note.with_name("2026-11-20 Of a job.md").write_text(job, "utf-8")


def test_a_conversation_from_elsewhere_is_listed_read_and_gone_on_with(browser: Browser, house: House) -> None:
    house.ask("which tea do I drink?")
    of_telegram(house)
    with signed_in(browser, house) as seen:
        page = seen.page
        page.goto(house.url)
        rows = page.get_by_role("navigation", name="Conversations").get_by_role("link")
        expect(rows).to_have_count(2)
        rows.filter(has_text="Telegram").click()
        expect(page.locator(".asked")).to_have_text("which tea do I drink?")
        expect(page.locator(".talk .prose")).to_contain_text("Green, says tea.")
        expect(page.locator(".talk .tools")).to_contain_text("vault_read")
        assert page.title().startswith("Which tea do I drink")
        page.get_by_label("Go on with this conversation").fill("and cups?")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/ask/*")
        expect(page.locator(".asked")).to_have_text(["which tea do I drink?", "and cups?"])
        expect(page.locator("#answer")).to_contain_text("Two.")
        expect(page.get_by_label("Go on with this conversation")).to_be_visible()
        assert seen.problems == [] and house.reports() == 0
    found = {each.channel: each for each in conversations(house.workspace.vault, 10)}
    assert {channel: each.runs for channel, each in found.items()} == {"telegram": 2, "http": 1}
    assert (found["telegram"].last or "") >= (found["http"].last or ""), "in the same second, if it is quick"


def test_without_a_model_the_first_page_says_so_where_it_asks(tmp_path: Path) -> None:
    with open_house(tmp_path) as house, pytest.MonkeyPatch.context() as monkeypatch:  # undone before the house's own
        assert "No model yet" not in house.fetch("/")
        monkeypatch.setenv("VAULT_AGENT_LLM__WIRE", "offline")
        assert "No model yet: choose one." in house.fetch("/")
