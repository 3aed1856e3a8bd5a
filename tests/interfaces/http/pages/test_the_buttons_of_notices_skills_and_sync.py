"""The buttons of notices, skills, sync and partial undo: what each is pressed for is so afterwards."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.app.notice_ledger import open_ledger
from agent.attention.receipt import NoticeDecision
from agent.events.notices import NoticeRaised
from agent.vault.change import Stamp
from agent.vault.sync.state import SyncedRemote, state_file, sync_state
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.stories.agents import NOTES

SKILL = "---\nname: offers\ndescription: Compares the offers of craftsmen.\n---\n# Offers\n\nName each price.\n"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("more"), {**NOTES, "skills/offers/SKILL.md": SKILL}) as found:
        yield found


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    with signed_in(browser, house, 390) as seen:
        seen.page.on("dialog", lambda dialog: dialog.accept())
        yield seen.page
        assert seen.problems == []


def told(page: Page, text: str) -> None:
    expect(page.locator(".message").filter(has_text=text).first).to_be_visible()


@pytest.mark.parametrize(("button", "reaction"), [("Helpful", "helpful"), ("Not worth it", "dismissed")])
def test_a_notice_is_judged(page: Page, house: House, button: str, reaction: str) -> None:
    ledger, now = open_ledger(house.workspace), house.workspace.clock.now()
    id, title = house.workspace.clock.new_id(), f"Call the roofer, {reaction}"
    raised = NoticeRaised("task_due", 0.8, title, ("From [[plan]]: `roof`.",), title)
    ledger.add(id, raised, NoticeDecision("held", "quiet", now + timedelta(hours=6)), "daily")
    page.goto(f"{house.url}/today")
    row = page.get_by_role("listitem").filter(has_text=title)
    expect(row.get_by_role("link", name="plan")).to_have_attribute("href", "/notes/plan.md")
    expect(row.locator("code")).to_have_text("roof")
    row.get_by_role("button", name=button).click()
    expect(row.get_by_role("button", name=button)).to_have_count(0)
    judged = open_ledger(house.workspace).get(id)
    assert judged is not None and judged.reaction == reaction


def test_a_notice_of_a_decision_leads_to_it_and_says_no_more(page: Page, house: House) -> None:
    ledger, now = open_ledger(house.workspace), house.workspace.clock.now()
    diff = ("--- a/plan.md", "+++ b/plan.md", "+ call the roofer", "[[plan]]")
    raised = NoticeRaised("approval", 0.8, "May I change plan.md?", diff, "plan.md", decides="plan.md")
    ledger.add(house.workspace.clock.new_id(), raised, NoticeDecision("held", "quiet", now), "daily")
    page.goto(f"{house.url}/today")
    row = page.get_by_role("listitem").filter(has_text="May I change plan.md?")
    expect(row.get_by_role("link", name="plan", exact=True)).to_be_visible()
    expect(row).not_to_contain_text("call the roofer")


def test_what_can_be_undone_of_a_change_is(page: Page, house: House) -> None:
    vault = house.workspace.vault
    with vault.transaction("two notes", Stamp("human")) as change:
        for path in ("plan.md", "tea.md"):
            before = vault.read(path) or b""
            change.edit(path, before, before + b"\nA line.\n")
    commit = vault.head
    (house.root / "tea.md").write_text("# Tea\n\nAll of it is another text.\n")
    house.until(lambda: vault.head != commit, "the edit is committed")
    page.goto(f"{house.url}/changes/{commit}")
    page.get_by_role("button", name="Undo the rest").click()
    house.until(lambda: "A line." not in (house.root / "plan.md").read_text(), "the line is gone where it was")
    assert "another text" in (house.root / "tea.md").read_text()


def test_a_skill_is_trusted_after_a_look_and_no_more_after_another(page: Page, house: House) -> None:
    page.goto(f"{house.url}/needs")
    card = page.get_by_role("article").filter(has_text="May I use the skill offers?")
    expect(card.get_by_text("Name each price.")).to_be_visible()
    expect(card.get_by_role("checkbox")).to_have_count(0)
    card.get_by_role("button", name="Yes, do it").click()
    told(page, "You said yes")
    page.goto(f"{house.url}/skills/offers")
    expect(page.locator("main .tag").first).to_have_text("trusted")
    page.get_by_role("button", name="Trust it no more").click()
    expect(page.locator("main .tag").first).to_have_text("not looked at yet")


def test_sync_is_stopped_and_goes_on(page: Page, house: House) -> None:
    vault = house.workspace.vault
    state_file(vault).put(SyncedRemote("origin", "/nowhere", "main"))
    page.goto(f"{house.url}/sync")
    page.get_by_role("button", name="Pause sync").click()
    house.until(lambda: sync_state(vault).is_paused, "it is paused")
    page.reload()
    page.get_by_role("button", name="Let sync go on").click()
    house.until(lambda: not sync_state(vault).is_paused, "it goes on")
