"""Quiet hours follow the clock on the wall, on the days on which they begin."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.attention.quiet import parse_quiet
from agent.config.settings import setting_type
from agent.errors import ConfigError

BERLIN = ZoneInfo("Europe/Berlin")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
TABLE = [
    # 2026-11-23 is a Monday
    ("22-8", "2026-11-23T21:59", None),
    ("22-8", "2026-11-23T22:00", "2026-11-24T08:00"),
    ("22-8", "2026-11-24T07:59", "2026-11-24T08:00"),
    ("22-8", "2026-11-24T08:00", None),
    ("13-15", "2026-11-23T12:59", None),
    ("13-15", "2026-11-23T13:00", "2026-11-23T15:00"),
    ("13-15", "2026-11-23T15:00", None),
    ("13-15", "2026-11-23T23:00", None),
    ("22:30-6:15", "2026-11-24T06:14", "2026-11-24T06:15"),
    ("0-24", "2026-11-23T12:00", "2026-12-23T00:00"),
    ("0-0", "2026-11-23T00:00", None),
    ("9-9", "2026-11-23T12:00", None),
    ("fri 22-8", "2026-11-28T03:00", "2026-11-28T08:00"),  # the night from Friday belongs to Friday
    ("fri 22-8", "2026-11-27T03:00", None),
    ("mon-fri 22-8, sat-sun 23-10", "2026-11-28T07:00", "2026-11-28T08:00"),
    ("mon-fri 22-8, sat-sun 23-10", "2026-11-29T09:00", "2026-11-29T10:00"),
    ("mon-fri 22-8, sat-sun 23-10", "2026-11-30T09:00", "2026-11-30T10:00"),
    ("sat-mon 12-13", "2026-11-23T12:30", "2026-11-23T13:00"),  # over the end of the week
    ("sat-mon 12-13", "2026-11-24T12:30", None),
    ("22-24, 0-6", "2026-11-23T23:00", "2026-11-24T06:00"),  # spans that follow on each other are one
    ("", "2026-11-23T03:00", None),
]


@pytest.mark.parametrize(("text", "at", "end"), TABLE)
def test_the_table_of_quiet_hours(text: str, at: str, end: str | None) -> None:
    found = parse_quiet(text, UTC).end_after(datetime.fromisoformat(at).replace(tzinfo=UTC))
    assert (found.strftime("%Y-%m-%dT%H:%M") if found else None) == end


@pytest.mark.parametrize(
    ("at", "end"),
    [
        ("2026-03-28T23:00+01:00", "2026-03-29T08:00+02:00"),  # an hour is left out in this night
        ("2026-10-24T23:00+02:00", "2026-10-25T08:00+01:00"),  # and one comes twice in this one
    ],
)
def test_the_night_ends_by_the_clock_on_the_wall_when_the_clocks_change(at: str, end: str) -> None:
    quiet = parse_quiet("22-8", BERLIN)
    found = quiet.end_after(datetime.fromisoformat(at))
    assert found == datetime.fromisoformat(end)
    assert quiet.end_after(found) is None
    assert quiet.end_after(found - timedelta(minutes=1)) == found


def test_an_hour_that_comes_twice_is_quiet_twice_and_ends() -> None:
    quiet = parse_quiet("22-2:30", BERLIN)
    second = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)  # 02:10 for the second time
    assert quiet.end_after(second) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


def spans() -> st.SearchStrategy[str]:
    """Texts of the setting, by hours and days."""
    day = st.sampled_from(DAYS)
    days = st.one_of(st.just(""), day.map("{} ".format), st.tuples(day, day).map(lambda pair: f"{pair[0]}-{pair[1]} "))
    hours = st.tuples(st.integers(0, 23), st.integers(0, 24)).map(lambda pair: f"{pair[0]}-{pair[1]}")
    return st.lists(st.tuples(days, hours).map("".join), max_size=3).map(", ".join)


@settings(max_examples=200, deadline=None)
@given(spans(), st.integers(0, 14 * 24 * 4))
def test_whatever_the_spans_it_is_quiet_when_a_table_of_minutes_says_so(text: str, quarter: int) -> None:
    at = datetime(2026, 11, 23, tzinfo=UTC) + timedelta(minutes=15 * quarter)
    assert (parse_quiet(text, UTC).end_after(at) is not None) == is_quiet_by_table(text, at)


def is_quiet_by_table(text: str, at: datetime) -> bool:
    """The same, the long way: every hour of a fortnight before `at` is marked."""
    for part in filter(None, text.split(", ")):
        *named, hours = part.split(" ")
        first, last = (named[0].split("-") * 2)[:2] if named else ("mon", "sun")
        begin, end = (int(each) for each in hours.split("-"))
        for back in range(3):
            midnight = at.replace(hour=0, minute=0) - timedelta(days=back)
            week = [*DAYS, *DAYS]
            start = week.index(first)
            if DAYS[midnight.weekday()] not in week[start : week.index(last, start) + 1]:
                continue
            length = end - begin if end >= begin else end + 24 - begin
            if any(midnight + timedelta(hours=begin + each) == at.replace(minute=0) for each in range(length)):
                return True
    return False


@pytest.mark.parametrize("text", ["22", "25-3", "22-8:61", "monday 22-8", "mon-fri", "22-8,,", "at night", "24-3"])
def test_hours_that_cannot_be_read_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError, match="22-8, or by days: mon-fri 22-8, sat-sun 23-10"):
        setting_type("attention.quiet").read(text)


@settings(max_examples=100, deadline=None)
@given(st.text("0123456789-: ,montuewdhfriasn", max_size=14))
def test_what_the_setting_takes_can_be_read(text: str) -> None:
    try:
        setting_type("attention.quiet").read(text)
    except ConfigError:
        return
    parse_quiet(text.strip())
