"""An RRULE says what no cron expression does: every second week, the last day of a short month."""

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from agent.schedule.occurrences import next_times
from agent.schedule.trigger_lines import one_moment
from agent.schedule.triggers import BadTrigger, RecurrenceRule, parse_triggers

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
BINS = "DTSTART:20261201T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"


def times(rule: str, zone: ZoneInfo, after: datetime, count: int, anchor: datetime | None = None) -> list[str]:
    found = next_times(parse_triggers({"rrule": rule}), zone, after, anchor)
    return [f"{at:%Y-%m-%d %H:%M%z}" for at in islice(found, count)]


@pytest.mark.parametrize(("zone", "winter", "summer"), [(BERLIN, "+0100", "+0200"), (NEW_YORK, "-0500", "-0400")])
def test_each_time_has_the_offset_of_its_own_day(zone: ZoneInfo, winter: str, summer: str) -> None:
    found = times(BINS, zone, datetime(2026, 11, 29, tzinfo=UTC), 16)
    assert found[:2] == [f"2026-12-01 09:00{winter}", f"2026-12-15 09:00{winter}"]
    assert found[-1] == f"2027-06-29 09:00{summer}"


def test_a_rule_without_a_start_counts_from_when_the_job_was_made() -> None:
    made = datetime(2026, 11, 24, 7, 30, tzinfo=UTC)
    found = times("FREQ=WEEKLY;INTERVAL=2", BERLIN, datetime(2026, 12, 1, tzinfo=UTC), 2, made)
    assert found == ["2026-12-08 08:30+0100", "2026-12-22 08:30+0100"]


def test_a_time_that_a_clock_change_skips_is_the_next_one_there_is() -> None:
    rule = "DTSTART:20270326T023000 RRULE:FREQ=DAILY;INTERVAL=2"
    assert times(rule, BERLIN, datetime(2027, 3, 27, tzinfo=UTC), 2) == [
        "2027-03-28 03:00+0200",
        "2027-03-30 02:30+0200",
    ]


def test_a_rule_that_ends_has_an_end() -> None:
    rule = "DTSTART:20261201T090000 RRULE:FREQ=WEEKLY;COUNT=2"
    assert times(rule, BERLIN, datetime(2026, 11, 1, tzinfo=UTC), 9) == [
        "2026-12-01 09:00+0100",
        "2026-12-08 09:00+0100",
    ]


def test_a_rule_is_written_on_one_line() -> None:
    assert parse_triggers({"rrule": "FREQ=YEARLY;BYEASTER=0"}) == (RecurrenceRule("RRULE:FREQ=YEARLY;BYEASTER=0"),)
    assert parse_triggers({"rrule": BINS.replace(" ", "\n")}) == (RecurrenceRule(BINS),)


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "every week",
        "FREQ=MINUTELY",
        "FREQ=SECONDLY;COUNT=3",
        "FREQ=WEEKLY;BYDAY=XX",
        "INTERVAL=2",
        "FREQ=DAILY;INTERVAL=0x",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=-1",
        "FREQ=DAILY;FREQ=MINUTELY",
        "FREQ=DAILY;BYSECOND=0,1,2,3",
    ],
)
def test_what_is_no_rule_of_days_is_refused(rule: str) -> None:
    with pytest.raises(BadTrigger):
        parse_triggers({"rrule": rule})


def test_a_moment_in_a_named_zone_is_of_that_zone() -> None:
    now = datetime(2026, 11, 23, 10, tzinfo=BERLIN)
    assert one_moment("Friday at 5pm New York time", now)[0].isoformat() == "2026-11-27T17:00:00-05:00"
