"""All jobs on one line: each run and each time to come has its place, and what is close together is one mark."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from agent.app.past_runs import PastRun
from agent.interfaces.http.pages.time_line import SPANS, Span, TimeLine, time_line
from agent.schedule.history import HistoryRow
from agent.schedule.job import Job
from agent.schedule.triggers import ChangeTrigger, Cron, Every

NOW = datetime(2026, 11, 21, 12, 7, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
MORNING = Job("morning", "jobs/morning.md", "Morning", (Cron("30 7 * * *"),), "Brief me.", zone_name="Europe/Berlin")


def past(outcome: str, ago: timedelta) -> PastRun:
    return PastRun(HistoryRow(NOW - ago, outcome, NOW - ago))  # type: ignore[arg-type]  # each test gives a right one


def line(job: Job, *runs: PastRun, span: Span = "day") -> TimeLine:
    return time_line([(job, runs)], NOW, span, BERLIN)


def test_what_ran_stands_before_now_and_what_comes_after_it() -> None:
    found = line(MORNING, past("failed", timedelta(hours=12)), past("done", timedelta(hours=25)))
    (row,) = found.rows
    assert [(mark.kind, mark.x) for mark in row.marks] == [("failed", 25.0), ("coming", 88.3)]
    assert row.marks[1].first == datetime(2026, 11, 22, 7, 30, tzinfo=BERLIN)
    assert found.kinds == ("failed", "coming")
    assert [tick.at.hour for tick in found.ticks] == [18, 0, 6, 12, 18, 0, 6, 12]
    assert [tick.is_day for tick in found.ticks].count(True) == 2


def test_many_in_one_hour_are_one_mark_and_the_worst_is_drawn() -> None:
    runs = [
        past("done", timedelta(minutes=10)),
        past("failed", timedelta(minutes=20)),
        past("done", timedelta(minutes=25)),
    ]
    (mark, *_) = line(MORNING, *runs).rows[0].marks
    assert (mark.kind, mark.counts) == ("failed", (("failed", 1), ("done", 2)))
    assert mark.last - mark.first == timedelta(minutes=15)


def test_a_job_with_more_times_than_are_drawn_goes_on_to_the_end() -> None:
    often = Job("often", "jobs/often.md", "Often", (Every(60),), "Look.")
    assert line(often, span="hours").rows[0].goes_on is None
    assert 50 < (line(often, span="week").rows[0].goes_on or 0) < 60


def test_paused_and_waiting_jobs_have_no_times_to_come() -> None:
    for job in (
        Job("paused", "jobs/p.md", "Paused", (Every(3600),), "Look.", status="paused"),
        Job("change", "jobs/c.md", "Change", (ChangeTrigger(),), "Look."),
    ):
        assert line(job).rows[0].marks == ()


@given(
    st.sampled_from(SPANS),
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)).map(lambda at: at.replace(tzinfo=UTC)),
    st.sampled_from(["Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "America/Santiago", "UTC"]).map(ZoneInfo),
    st.lists(st.integers(0, 3 * 86_400), max_size=30),
)
@example("hours", datetime(2020, 1, 1, 1, 0, 0, 1, tzinfo=UTC), ZoneInfo("Europe/Berlin"), [])
def test_every_mark_has_its_place_and_none_is_lost(span: Span, now: datetime, zone: ZoneInfo, ago: list[int]) -> None:
    runs = [PastRun(HistoryRow(now - timedelta(seconds=each), "done")) for each in ago]
    found = time_line([(MORNING, runs)], now, span, zone)
    reach = (found.end - now.astimezone(zone)).total_seconds()
    (row,) = found.rows
    before = [mark for mark in row.marks if mark.kind == "done"]
    assert all(0 <= mark.x <= 50 for mark in before) and all(
        50 <= mark.x <= 100 for mark in row.marks if mark not in before
    )
    assert sum(count for mark in before for _, count in mark.counts) == sum(each <= reach for each in ago)
    assert [mark.x for mark in row.marks] == sorted(mark.x for mark in row.marks)
    assert all(0 < tick.x < 100 and tick.at.tzinfo is zone for tick in found.ticks)
    assert sorted(each.first.timestamp() for each, _ in found.in_order) == [
        each.first.timestamp() for each, _ in found.in_order
    ]
