"""The metrics: drawn from the tables that everybody can read, with the troubles that stand, and no text of strangers
does anything there."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.background.active_alerts import load_active_alerts, save_active_alerts
from agent.interfaces.http.pages.metrics import counted_charts, days_until, notice_chart
from agent.metrics.totals import MetricTotals, load_days
from agent.vault.change import Stamp
from tests.fakes import FakeClock
from tests.interfaces.http.pages.counted import count_days, have_trouble, raise_notices, spend
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.interfaces.http.pages.scripts import scripts
from tests.interfaces.http.pages.test_foreign_text_runs_nothing import ran_a_dialog
from tests.stories.agents import NOTES

CHARTS = ("recalls", "notices_raised", "spent", "tool_calls", "job_runs", "patterns")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("metrics"), NOTES) as found:
        count_days(found.workspace)
        raise_notices(found.workspace)
        spend(found.workspace)
        yield found


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    before = house.reports()
    with signed_in(browser, house) as seen:
        yield seen.page
        assert seen.problems == [] and house.reports() == before


def cells(page: Page, chart: str) -> dict[str, list[str]]:
    """The table of a chart: its cells by day."""
    rows = page.locator(f"#table-{chart} tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"
    )
    return {row[0]: row[1:] for row in rows}


def test_every_chart_is_drawn_from_a_table_with_its_numbers(page: Page, house: House) -> None:
    page.goto(f"{house.url}/metrics")
    for chart in CHARTS:
        box = page.locator(f".chart[data-chart='table-{chart}'] canvas")
        expect(box).to_have_count(1)
        drawn = box.evaluate("(it) => { const {data} = it.getContext('2d').getImageData(0, 0, it.width, it.height);"
                             " return data.some((value) => value !== 0); }")  # fmt: skip
        assert drawn, chart
    counted = load_days(house.workspace.metrics, (house.workspace.clock.now() - timedelta(days=29)).date())
    shown = cells(page, "recalls")
    assert len(shown) == 30
    for day, totals in counted.items():
        if totals.recall_hits is not None:
            recalls = totals.events["proactive.memory.recalled"]
            hits = totals.recall_hits
            share = f"{100 * hits / recalls:.0f} %"
            assert shown[day.isoformat()] == [f"{hits:.0f}", f"{recalls - hits:.0f}", share]
    missing = set(shown) - {day.isoformat() for day in counted}
    assert missing and all(shown[day] == ["–"] * 3 for day in missing), "a day of which nothing is known"


def test_the_number_of_days_is_chosen(page: Page, house: House) -> None:
    page.goto(f"{house.url}/metrics")
    page.get_by_role("link", name="7 days").click()
    page.wait_for_url("**/metrics?days=7")
    expect(page.locator("#table-spent tbody tr")).to_have_count(7)
    page.goto(f"{house.url}/metrics?days=90")
    expect(page.locator("#table-spent tbody tr")).to_have_count(90)
    page.goto(f"{house.url}/metrics?days=1e9")
    expect(page.locator("#table-spent tbody tr")).to_have_count(30)


def test_charts_are_drawn_again_when_the_page_is_made_again(page: Page, house: House) -> None:
    page.goto(f"{house.url}/metrics")
    expect(page.locator(".chart canvas")).to_have_count(len(CHARTS))
    today = house.workspace.clock.now().date().isoformat()
    before = cells(page, "job_runs")[today]
    file = house.workspace.metrics / f"{today}.json"
    figures = json.loads(file.read_text()) if file.exists() else {}
    figures["job_statuses"] = {"done": 41}
    file.write_text(json.dumps(figures))
    with house.workspace.vault.transaction("news", Stamp("human")) as change:
        change.create("news.md", b"# News\n")
    expect(page.locator("#table-job_runs tbody tr").last).to_contain_text("41")
    assert before[0] != "41"
    expect(page.locator(".chart canvas")).to_have_count(len(CHARTS))


def test_the_day_below_the_pointer_is_told(page: Page, house: House) -> None:
    page.goto(f"{house.url}/metrics")
    chart = page.locator(".chart[data-chart='table-spent']")
    chart.hover(position={"x": 400, "y": 80})
    told = page.locator(".chart[data-chart='table-spent'] + .chart-at")
    expect(told).to_contain_text("US dollars: $")
    day = re.match(r"\d{4}-\d\d-\d\d", told.inner_text())
    assert day is not None and cells(page, "spent")[day[0]][0] in told.inner_text()


def test_troubles_stand_on_top_with_what_to_do_and_go_when_they_are_over(page: Page, house: House) -> None:
    vault = house.workspace.vault
    have_trouble(house.workspace)
    assert len(load_active_alerts(vault)) == 2
    page.goto(f"{house.url}/metrics")
    expect(page.get_by_text("The job brief has failed 4 times in a row")).to_be_visible()
    expect(page.locator("code", has_text="vault-agent jobs history brief")).to_be_visible()
    save_active_alerts(vault, [])
    page.reload()
    expect(page.get_by_text("None stands.")).to_be_visible()


def test_where_nothing_was_counted_each_chart_says_what_to_do(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        seen.page.goto(f"{house.url}/metrics")
        assert seen.page.locator(".chart").count() == 0
        expect(seen.page.get_by_text("vault-agent jobs add TEXT")).to_be_visible()
        assert seen.problems == []


@pytest.mark.parametrize("count", [50, pytest.param(500, marks=pytest.mark.chaos)])
def test_names_of_strangers_run_nothing(browser: Browser, tmp_path: Path, count: int) -> None:
    texts = list(scripts(count))
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        folder, today = house.workspace.metrics, house.workspace.clock.now().date()
        names = {text[:80]: 3 for text in texts}
        figures = {"events": {"tick": 1, **names}, "used": names, "failed": names, "patterns": names,
                   "handler_seconds " + texts[0][:60]: {"0.3": 3}, "job_statuses": names}  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{(today - timedelta(days=1)).isoformat()}.json").write_text(json.dumps(figures))
        seen.page.on("dialog", partial(ran_a_dialog, seen))
        for text in texts:
            have_trouble(house.workspace, text[:200])
            if text in texts[:: max(1, len(texts) // 10)]:
                seen.page.goto(f"{house.url}/metrics?days={text[:40]}")
                seen.page.wait_for_selector(".chart canvas")
        assert seen.ran == [] and house.reports() == 0
        assert [each for each in seen.problems if "status of 4" not in each] == []


def test_what_is_not_known_is_none_and_what_was_not_done_is_zero() -> None:
    days = days_until(FakeClock().now().date(), 3)
    totals = MetricTotals(events={"tick": 1})
    for chart in counted_charts(days, {days[1]: totals}):
        for series in chart.series:
            assert series.values[0] is None and series.values[2] is None
            assert series.values[1] == (0 if series.kind == "part" else None)
        assert chart.is_empty
    assert {each.values for each in notice_chart(days, {}, None).series} == {(None, None, None)}
    assert notice_chart(days, {}, days[1]).series[0].values == (None, 0, 0)


def test_a_window_that_is_made_narrow_never_scrolls_sideways(page: Page, house: House) -> None:
    page.goto(f"{house.url}/metrics")
    expect(page.locator(".chart canvas")).to_have_count(len(CHARTS))
    for width in (1024, 500):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
