"""The times of cron expressions equal those found by going through every minute, in zones with odd clock changes."""

from datetime import UTC, date, datetime, timedelta
from itertools import takewhile

import pytest

from agent.schedule.occurrences import next_times, zone_of
from agent.schedule.triggers import Cron, Every, Trigger
from tests.schedule.brute import ZoneMinutes, cron_minutes, every_minutes

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago")
EXPRESSIONS = (
    *("* * * * *", "*/5 * * * *", "*/15 * * * *", "7 * * * *", "0 * * * *", "*/20 2 * * *", "* 2 * * *"),
    *("*/30 0 * * *", "0 */2 * * *", "0 */3 * * *", "30 */4 * * *", "15 */6 * * 1-5", "*/10 9-17 * * 1-5"),
    *("*/7 23 * * *", "5 1-4 * * *", "0 0 * * *", "30 0 * * *", "59 23 * * *", "30 1 * * *", "0 2 * * *"),
    *("30 2 * * *", "59 2 * * *", "0 3 * * *", "15,45 2 * * *", "0,30 1,2,3 * * *", "0 2,3 * * *", "30 23,0 * * *"),
    *("0 9 * * 1-5", "0 9 * * 0", "0 9 * * 7", "0 10 * * 6,0", "30 2 * * 0", "0 0 1 * *", "0 9 15 * *"),
    *("30 2 29 3 *", "30 2 25 10 *", "0 9 31 * *", "0 0 29 2 *", "0 9 1-7 * 1", "0 9 13 * 5", "0 9 */2 * *"),
    *("0 9 * */3 *", "0 0 1 1 *", "45 1-3 4 4,10 *", "0 6-22/4 * * *"),
)
CHANGES = {
    "Europe/Berlin": (date(2026, 3, 29), date(2026, 10, 25)),
    "America/New_York": (date(2026, 3, 8), date(2026, 11, 1)),
    "Australia/Lord_Howe": (date(2026, 4, 5), date(2026, 10, 4)),
    "America/Santiago": (date(2026, 4, 5), date(2026, 9, 6)),
}


def compare(expression: str, zone_name: str, start: datetime, end: datetime) -> None:
    zone = zone_of(zone_name)
    times = list(takewhile(lambda at: at.timestamp() <= end.timestamp(), next_times([Cron(expression)], zone, start)))
    assert [at.astimezone(UTC) for at in times] == cron_minutes(expression, zone, start, end)
    for at in times:  # each has a local time that exists, with its offset
        assert at.astimezone(UTC).astimezone(zone).isoformat() == at.isoformat()


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("number", [0, 1])
def test_around_clock_changes_all_expressions_have_the_times_of_every_minute(zone: str, number: int) -> None:
    middle = datetime.combine(CHANGES[zone][number], datetime.min.time(), zone_of(zone)).astimezone(UTC)
    for expression in EXPRESSIONS:
        compare(expression, zone, middle - timedelta(hours=20), middle + timedelta(hours=30))


@pytest.mark.parametrize("minute", range(0, 300, 7))
def test_it_does_not_matter_when_one_begins_to_ask(minute: int) -> None:
    """Also in the middle of an hour that occurs twice."""
    middle = datetime(2026, 10, 24, 23, 0, tzinfo=UTC) + timedelta(minutes=minute, seconds=13)
    for expression in ("30 2 * * *", "*/15 2 * * *", "50 2 * * *", "0 */1 * * *", "0,59 2,3 * * *"):
        compare(expression, "Europe/Berlin", middle, middle + timedelta(hours=5))


@pytest.mark.chaos
@pytest.mark.parametrize("zone_name", ZONES)
def test_the_times_of_a_year_are_those_of_every_minute(zone_name: str) -> None:
    start, end, zone = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC), zone_of(zone_name)
    year = ZoneMinutes(zone, start, end)
    for expression in EXPRESSIONS:
        times = takewhile(lambda at: at <= end, next_times([Cron(expression)], zone, start))
        expected = [at for at in year.times(expression) if start.timestamp() < at <= end.timestamp()]
        assert [int(at.timestamp()) for at in times] == expected, expression


@pytest.mark.parametrize("seconds", [60, 90, 3600, 7200, 86_400, 604_800])
def test_steps_count_by_elapsed_time(seconds: int) -> None:
    anchor, zone = datetime(2026, 10, 20, 9, 30, 5, tzinfo=zone_of("Europe/Berlin")), zone_of("America/New_York")
    start, end = datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 11, 4, tzinfo=UTC)
    end = min(end, start + timedelta(seconds=seconds * 300))
    times = takewhile(lambda at: at <= end, next_times([Every(seconds)], zone, start, anchor))
    assert [at.astimezone(UTC) for at in times] == every_minutes(seconds, anchor, start, end)


def test_several_triggers_have_each_time_once() -> None:
    start, zone = datetime(2026, 3, 28, tzinfo=UTC), zone_of("Europe/Berlin")
    both: list[Trigger] = [Cron("30 2 * * *"), Cron("*/30 * * * *"), Every(1800)]
    times = list(takewhile(lambda at: at < start + timedelta(days=2), next_times(both, zone, start)))
    assert [at.astimezone(UTC) for at in times] == [start + timedelta(minutes=30 * step) for step in range(1, 96)]
