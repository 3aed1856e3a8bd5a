"""Every button does what it says, and what it did can be seen in the vault."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.background.presence_files import give_order, state_of
from agent.memory.remember import remember
from agent.vault.change import Stamp
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.stories.agents import NOTES, call

SLOW = [
    {"task": "think long", **call("search_vault", query="tea")},
    *({"task": "think long", "seconds": 0.2, **call("vault_read", path="tea.md")} for _ in range(60)),
]
APPEND = [
    {"task": "add a line", **call("vault_append", path="plan.md", text="- drink it")},
    {"task": "add a line", "text": "It is in **[[plan]]**."},
]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("buttons"), NOTES, *SLOW, *APPEND) as found:
        yield found


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    with signed_in(browser, house) as seen:
        seen.page.on("dialog", lambda dialog: dialog.accept())
        yield seen.page
        assert seen.problems == []


def told(page: Page, text: str) -> None:
    expect(page.locator(".message").filter(has_text=text).first).to_be_visible()


def text_of(house: House, path: str) -> str:
    return (house.root / path).read_text("utf-8")


def test_an_answer_comes_with_its_tools_and_sources_and_is_undone(page: Page, house: House) -> None:
    page.goto(house.url)
    page.get_by_label("What do you want to know").fill("add a line, please")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#answer .prose strong")).to_have_text("plan")
    expect(page.locator("#answer .tools")).to_contain_text("vault_append")
    expect(page.locator(".while-running")).to_be_hidden()
    assert "- drink it" in text_of(house, "plan.md")
    page.get_by_role("button", name="Undo all of it").click()
    told(page, "Taken back")
    house.until(lambda: "- drink it" not in text_of(house, "plan.md"), "the line is gone")


def test_stop_ends_a_run(page: Page, house: House) -> None:
    page.goto(house.url)
    page.get_by_label("What do you want to know").fill("think long about it")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#answer .tools").first).to_contain_text("search_vault")
    page.get_by_role("button", name="Stop").click()
    told(page, "It stops")
    expect(page.locator("#answer .is-over")).to_be_attached()
    expect(page.locator(".while-running")).to_be_hidden()


def test_a_change_of_today_is_looked_at_and_undone(page: Page, house: House) -> None:
    with house.workspace.vault.transaction("plan: cake", Stamp("human")) as change:
        before = house.workspace.vault.read("plan.md") or b""
        change.edit("plan.md", before, before + b"- buy cake\n")
    page.goto(f"{house.url}/today")
    row = page.get_by_role("listitem").filter(has_text="cake").first
    expect(row.get_by_role("button", name="Undo")).to_have_count(0)  # an own edit is looked at first
    row.get_by_role("link", name="What it changed").click()
    expect(page.locator(".added")).to_contain_text("+- buy cake")
    page.get_by_role("button", name="Undo", exact=True).click()
    told(page, "Taken back")
    page.go_back()
    house.until(lambda: "buy cake" not in text_of(house, "plan.md"), "the cake is gone")
    expect(page.get_by_role("listitem").filter(has_text="cake").filter(has_text="undone").first).to_be_visible()
    taken_back = page.get_by_role("listitem").filter(has_text="Taken back: ").first
    expect(taken_back).not_to_contain_text("undone")
    taken_back.get_by_role("button", name="Undo").click()
    house.until(lambda: "buy cake" in text_of(house, "plan.md"), "the cake is back")
    page.get_by_role("link", name="The day before").click()
    expect(page.get_by_text("Nothing happened on this day")).to_be_visible()


def test_a_box_is_ticked_on_the_page_of_its_note(page: Page, house: House) -> None:
    (house.root / "boxes.md").write_text("# Boxes\n\n- [ ] buy green tea\n- [x] buy cups\n")
    house.until(lambda: "boxes.md" in house.workspace.vault.note_paths(), "it is there")
    page.goto(f"{house.url}/notes/boxes.md")
    box = page.get_by_role("checkbox", name="buy green tea")
    expect(box).not_to_be_checked()
    box.press("Enter")
    told(page, "Ticked: buy green tea")
    expect(box).to_be_checked()
    expect(box).to_be_focused()
    page.get_by_role("checkbox", name="buy cups").click()
    house.until(lambda: text_of(house, "boxes.md") == "# Boxes\n\n- [x] buy green tea\n- [ ] buy cups\n", "both are so")


def test_an_earlier_version_is_looked_at_and_restored(page: Page, house: House) -> None:
    vault = house.workspace.vault
    with vault.transaction("tea: black", Stamp("human")) as change:
        change.edit("tea.md", vault.read("tea.md") or b"", b"# Tea\n\nBlack tea at night.\n")
    page.goto(f"{house.url}/notes/tea.md")
    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name="Look at it").last.click()
    expect(page.get_by_text("Green tea in the morning")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Restore").last.click()
    told(page, "Restored")
    house.until(lambda: "Green tea" in text_of(house, "tea.md"), "the green tea is back")


def test_the_agent_is_woken_and_sent_to_sleep(page: Page, house: House) -> None:
    page.goto(f"{house.url}/status")
    page.get_by_role("button", name="Wake").click()
    told(page, "It wakes up")
    house.until(lambda: getattr(state_of(house.workspace.vault), "state", "") == "awake", "it is awake")
    expect(page.locator(".tag.on")).to_have_text("awake")
    page.get_by_role("button", name="Sleep").click()
    house.until(lambda: getattr(state_of(house.workspace.vault), "state", "") == "sleeping", "it sleeps")


def test_a_state_that_changes_elsewhere_is_seen_on_the_open_page(page: Page, house: House) -> None:
    page.goto(f"{house.url}/status")
    give_order(house.workspace.vault, "wake", "a test")
    expect(page.locator(".card .tag").first).to_have_text("awake")
    give_order(house.workspace.vault, "sleep", "a test")
    expect(page.locator(".card .tag").first).to_have_text("asleep")


def test_a_memory_is_found_with_its_reasons_and_forgotten(page: Page, house: House) -> None:
    remember(house.workspace.vault, "Ana has the spare key of the cellar")
    page.goto(f"{house.url}/memory")
    expect(page.get_by_text("Ana has the spare key")).to_be_visible()
    page.get_by_label("Search what is remembered").fill("cellar key")
    found = page.get_by_role("article").filter(has_text="spare key", has_not_text="Long-term memory")

    def is_found() -> bool:
        page.get_by_role("button", name="Search").click()
        return found.count() > 0

    house.until(is_found, "the index has taken it in")
    found.get_by_text("Why this was found").click()
    expect(found.get_by_role("table")).to_be_visible()
    found.get_by_role("link", name="Forget").click()
    expect(page.get_by_text("These notes go")).to_be_visible()
    page.get_by_role("button", name="Forget it").click()
    page.wait_for_url("**/memory")
    told(page, "Forgotten")
    house.until(lambda: not list((house.root / "entries").rglob("*spare-key*")), "the entry is gone")


def test_a_form_of_another_site_is_refused(browser: Browser, house: House, tmp_path: Path) -> None:
    form = f'<form method="post" action="{house.url}/status/wake"><button>x</button></form>'
    (tmp_path / "evil.html").write_text(form, "utf-8")
    with signed_in(browser, house) as seen:
        seen.page.goto((tmp_path / "evil.html").as_uri())
        seen.page.get_by_role("button").click()
        expect(seen.page.get_by_text("not allowed")).to_be_visible()
