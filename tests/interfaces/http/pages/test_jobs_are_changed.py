"""Jobs in a form: the next times are there before it is saved, a mistake says where, an older version is refused."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.runs.job_upkeep import job_shelf
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.stories.agents import NOTES
from tests.vaults import git

JOB = '---\ntype: job\nid: night\non: {cron: "30 2 * * *"}\ntimezone: Asia/Tokyo\nmine: 1\n---\n# Night\n\nSay hello.\n'


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("jobs"), NOTES) as found:
        yield found


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    (house.root / "jobs").mkdir(exist_ok=True)
    (house.root / "jobs/night.md").write_text(JOB)
    house.until(lambda: not git(house.root, "status", "--porcelain", "jobs").strip(), "the job is committed")
    with signed_in(browser, house, 390) as seen:
        yield seen.page
        assert [each for each in seen.problems if "status of 4" not in each] == []
    assert house.reports() == 0


def text_of(house: House) -> str:
    return (house.root / "jobs/night.md").read_text("utf-8")


def test_the_next_times_are_shown_before_it_is_saved_in_one_commit(page: Page, house: House) -> None:
    page.goto(f"{house.url}/jobs")
    page.get_by_role("listitem").filter(has_text="Night").get_by_role("link", name="Change it").click()
    preview = page.locator("#preview")
    expect(preview).to_contain_text("every day at 02:30")
    expect(preview.get_by_role("listitem")).to_have_count(5)
    page.get_by_label("When, one line each").fill("every weekday at 9")
    page.get_by_label("Time zone").fill("Europe/Lisbon")
    expect(preview).to_contain_text("on weekdays (Monday to Friday) at 09:00")
    expect(preview).to_contain_text("Europe/Lisbon")
    assert text_of(house) == JOB
    page.get_by_label("What to do then").fill("Say good morning.\n\nThen go.")
    before = git(house.root, "rev-list", "--count", "HEAD")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/jobs/night")
    expect(page.get_by_text("on weekdays (Monday to Friday) at 09:00")).to_be_visible()
    expect(page.get_by_text("Europe/Lisbon")).to_be_visible()
    assert int(git(house.root, "rev-list", "--count", "HEAD")) == int(before) + 1
    assert git(house.root, "show", "HEAD:jobs/night.md") == text_of(house)
    assert text_of(house).endswith("mine: 1\n---\n# Night\n\nSay good morning.\n\nThen go.\n")


def test_a_wrong_time_says_where_it_is_and_what_to_write(page: Page, house: House) -> None:
    page.goto(f"{house.url}/jobs/edit/night")
    page.get_by_label("When, one line each").fill("every 2 hours\n0 25 * * *")
    problem = page.locator("#preview").get_by_role("alert")
    expect(problem).to_contain_text("When:")
    expect(problem).to_contain_text("line 2: 0 25 * * * is no cron expression")
    expect(problem).to_contain_text("is each day at 02:30")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#refused")).to_contain_text("Not saved. First mend: When")
    expect(page.get_by_text("line 2: 0 25 * * * is no cron expression")).to_have_count(1)
    page.get_by_label("When, one line each").fill("daily at 8")
    page.get_by_label("Time zone").fill("Mars/Base")
    expect(problem).to_contain_text("no such time zone: Mars/Base")
    assert text_of(house) == JOB


def test_a_job_that_cannot_run_says_once_why(page: Page, house: House) -> None:
    (house.root / "jobs/broken.md").write_text(
        '---\ntype: job\non: {cron: "99 7 * * *"}\n---\n# Broken\n\nSay hello.\n'
    )
    try:
        page.goto(f"{house.url}/jobs/edit/jobs/broken.md")
        expect(page.locator("#preview").get_by_role("alert")).to_contain_text("99 7 * * * is no cron expression")
        expect(page.get_by_text("is no cron expression")).to_have_count(1)
        (house.root / "jobs/broken.md").write_text(JOB.replace("mine: 1", "retry: {max: lots}").replace("night", "odd"))
        page.reload()
        expect(page.locator("#preview").get_by_role("alert")).to_have_count(0)
        expect(page.get_by_text("lots", exact=False).first).to_be_visible()
    finally:
        (house.root / "jobs/broken.md").unlink()


def test_an_older_version_is_refused_with_both_and_written_only_when_asked_again(page: Page, house: House) -> None:
    page.goto(f"{house.url}/jobs/edit/night")
    expect(page.locator("#preview")).to_contain_text("every day at 02:30")
    later = JOB.replace("Say hello.", "Say good night.")
    (house.root / "jobs/night.md").write_text(later)
    page.get_by_label("When, one line each").fill("daily at 4:00")
    page.get_by_role("button", name="Save").click()
    refused = page.locator("#refused")
    expect(refused).to_contain_text("has changed since you opened it")
    expect(refused.locator(".removed").filter(has_text="Say good night.")).to_have_count(1)
    expect(refused.locator(".added").filter(has_text="Say hello.")).to_have_count(1)
    refused.get_by_text("The note as it is now").click()
    expect(refused.locator("pre").first).to_contain_text("Say good night.")
    assert text_of(house) == later
    refused.evaluate("shown => shown.firstElementChild.setAttribute('data-earlier', '')")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(refused.locator("[data-earlier]")).to_have_count(0)  # else the next click may meet what is being replaced
    expect(refused).to_contain_text("has changed since you opened it")
    assert text_of(house) == later
    refused.get_by_role("button", name="Write mine").click()
    page.wait_for_url("**/jobs/night")
    assert "Say hello." in text_of(house) and "0 4 * * *" in text_of(house)


def test_a_new_job_is_added(page: Page, house: House) -> None:
    page.goto(f"{house.url}/jobs")
    page.get_by_role("link", name="Add a job").click()
    expect(page.locator("#preview")).to_have_text("")
    page.get_by_label("When, one line each").fill("every monday at 8")
    expect(page.locator("#preview").get_by_role("listitem")).to_have_count(5)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#refused")).to_contain_text("a job needs a title or a text")
    page.get_by_label("Title").fill("The week ahead")
    page.get_by_label("Ask me for a yes").check()
    page.get_by_text("Where the answer goes").click()
    page.get_by_label("Channel of the answer").fill("none")
    page.get_by_label("How often a failed run").fill("2")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="The week ahead")).to_be_visible()
    expect(page.get_by_text("every Monday at 08:00")).to_be_visible()
    job = job_shelf(house.workspace).load().find("The week ahead")
    assert job.approval_required and job.only_wakes and (job.channel, job.retry.most) == ("none", 2)


def test_the_focus_stays_where_a_button_was_pressed(page: Page, house: House) -> None:
    (house.root / "jobs/later.md").write_text(
        JOB.replace("night", "later").replace("Night", "Later").replace("30 2", "30 9")
    )
    try:
        page.goto(f"{house.url}/jobs")
        night = page.get_by_role("listitem").filter(has_text="Night")
        for pressed, then in (("Pause", "Let it run again"), ("Let it run again", "Pause")):
            night.get_by_role("button", name=pressed).focus()
            page.keyboard.press("Enter")
            expect(night.get_by_role("button", name=then)).to_be_focused()
    finally:
        (house.root / "jobs/later.md").unlink()


def test_all_jobs_are_on_one_line_of_time_and_in_words(page: Page, house: House) -> None:
    now = house.workspace.clock.now().astimezone()
    (house.root / "jobs/history").mkdir(exist_ok=True)
    rows = "".join(
        f"- [planned:: {at}] [outcome:: {outcome}] [started:: {at}] [took:: 1 s]\n"
        for outcome, at in (("done", now.replace(hour=0, minute=0, second=0, microsecond=0).isoformat()),
                            ("failed", now.replace(microsecond=0).isoformat()))
    )  # fmt: skip
    (house.root / "jobs/history/night.md").write_text(f"# Night\n\n{rows}")
    page.goto(f"{house.url}/jobs")
    row = page.locator(".time-row").filter(has_text="Night")
    expect(row.locator("g.failed")).to_have_count(1)
    expect(row.locator("g.coming")).to_have_count(1)
    page.get_by_text("The same as text").click()
    words = page.locator("table tr")
    expect(words.filter(has_text="failed").filter(has_text="Night")).to_be_visible()
    expect(words.filter(has_text="comes").filter(has_text="Night")).to_be_visible()
    with page.expect_response(lambda response: response.url == f"{house.url}/jobs"):
        (house.root / "jobs/early.md").write_text(JOB.replace("night", "early").replace("Night", "Early"))
    expect(words.filter(has_text="comes").filter(has_text="Early")).to_be_visible()  # what was opened stays open
    (house.root / "jobs/early.md").unlink()
    page.get_by_role("link", name="A week").click()
    expect(page.locator(".time-row").filter(has_text="Night").locator("g.coming")).to_have_count(7)


def test_the_run_of_a_job_is_one_thing_that_happened(page: Page, house: House) -> None:
    page.goto(f"{house.url}/jobs")
    page.get_by_role("listitem").filter(has_text="Night").get_by_role("button", name="Run now").click()
    history = house.root / "jobs/history/night.md"
    house.until(lambda: history.exists() and "[session::" in history.read_text("utf-8"), "it has run")
    house.until(lambda: not git(house.root, "status", "--porcelain", "jobs", "sessions").strip(), "it is committed")
    page.goto(f"{house.url}/today")
    happened = page.locator(".timeline li").filter(has=page.locator("a.name"))
    expect(happened.filter(has_text="Say hello").or_(happened.filter(has_text="Night"))).to_have_count(1)
