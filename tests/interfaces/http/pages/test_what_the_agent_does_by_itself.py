"""Tasks and jobs on their pages: what is added, deleted, run and paused there is so in the vault."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.runs.planned_tasks import marked_tasks
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.stories.agents import NOTES


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("by-itself"), NOTES) as found:
        yield found


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    with signed_in(browser, house) as seen:
        seen.page.on("dialog", lambda dialog: dialog.accept())
        yield seen.page
        assert [each for each in seen.problems if "status of 4" not in each] == []


def told(page: Page, text: str) -> None:
    expect(page.locator(".message").filter(has_text=text).first).to_be_visible()


def test_a_task_is_added_looked_at_and_deleted(page: Page, house: House) -> None:
    page.goto(f"{house.url}/tasks")
    expect(page.get_by_text("No task waits")).to_be_visible()
    page.get_by_role("link", name="Add a task").click()
    page.get_by_label("Title, or the topic").fill("How tea is dried")
    page.get_by_label("What it is about").fill("Green and black.")
    page.get_by_label("Priority").fill("8")
    page.get_by_label("Not before").fill("2099-01-05T09:00")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", name="How tea is dried")).to_be_visible()
    expect(page.get_by_text("Green and black.")).to_be_visible()
    task = next(each for each in marked_tasks(house.workspace).waiting if each.title == "How tea is dried")
    assert (task.kind, task.priority, task.due is not None) == ("explore_topic", 8, True)
    page.get_by_role("link", name="← Tasks").click()
    card = page.get_by_role("listitem").filter(has_text="How tea is dried")
    card.get_by_role("button", name="Delete").click()
    told(page, "is out of the queue")
    expect(page.get_by_role("listitem").filter(has_text="How tea is dried")).to_contain_text("cancelled")
    assert task.id not in {each.id for each in marked_tasks(house.workspace).waiting}


def test_a_wrong_priority_is_refused_with_what_to_do(page: Page, house: House) -> None:
    page.goto(f"{house.url}/tasks/new")
    page.get_by_label("Title, or the topic").fill("Too urgent")
    page.get_by_label("Priority").evaluate("(field) => { field.type = 'text'; field.value = '99' }")
    page.get_by_role("button", name="Add it").click()
    told(page, "a whole number from 1 to 10")
    assert "Too urgent" not in {each.title for each in marked_tasks(house.workspace).all}


def test_a_task_that_comes_is_seen_on_the_open_page(page: Page, house: House) -> None:
    page.goto(f"{house.url}/tasks")
    note = "---\ntype: task\ntask_type: explore_topic\ndue: 2099-02-01\n---\n# Where cups come from\n"
    (house.root / "tasks").mkdir(exist_ok=True)
    (house.root / "tasks" / "cups.md").write_text(note)
    expect(page.get_by_role("link", name="Where cups come from")).to_be_visible()


def test_a_job_is_run_paused_and_resumed(page: Page, house: House) -> None:
    header = 'type: job\nid: briefing\non: {cron: "30 7 * * 1-5"}\ntimezone: Asia/Tokyo'
    note = f"---\n{header}\n---\n# Briefing\n\nSay what is due.\n"
    (house.root / "jobs").mkdir(exist_ok=True)
    (house.root / "jobs" / "briefing.md").write_text(note)
    page.goto(f"{house.url}/jobs")
    card = page.get_by_role("listitem").filter(has_text="Briefing")
    expect(card).to_contain_text("on weekdays (Monday to Friday) at 07:30")
    expect(card).to_contain_text("Asia/Tokyo")
    expect(card.locator(".end time.clock")).to_have_count(1)
    card.get_by_role("button", name="Pause").click()
    told(page, "Paused")
    house.until(lambda: "status: paused" in (house.root / "jobs" / "briefing.md").read_text(), "it is paused")
    card.get_by_role("button", name="Let it run again").click()
    told(page, "It runs at its times again")
    house.until(lambda: "status: active" in (house.root / "jobs" / "briefing.md").read_text(), "it is active")
    card.get_by_role("link", name="Briefing").click()
    expect(page.get_by_text("It has not run yet")).to_be_visible()
    page.get_by_role("button", name="Run now").click()
    told(page, "It runs now")
    expect(page.locator(".timeline li")).to_have_count(1)
