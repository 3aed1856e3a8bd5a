"""What is on: repetitions and their exceptions, whole days, zones and changes of the clock, in the person's zone."""

from datetime import date
from zoneinfo import ZoneInfo

import pytest

from agent.calendars.event import CalendarEvent, events_on
from agent.calendars.reading import UnreadableCalendar, read_calendar
from tests.calendars.servers import calendar, event

BERLIN = ZoneInfo("Europe/Berlin")


def on(data: bytes, first: str, last: str, zone: ZoneInfo = BERLIN, *, mine: bool = False) -> list[CalendarEvent]:
    days = date.fromisoformat(first), date.fromisoformat(last)
    return list(events_on(read_calendar(data, "work", *days, zone, is_mine=mine).events, *days))


def told(data: bytes, first: str, last: str, zone: ZoneInfo = BERLIN) -> list[str]:
    return [f"{each.start:%m-%d %H:%M}-{each.end:%H:%M} {each.title}" for each in on(data, first, last, zone)]


WEEKLY = event("1", "DTSTART;TZID=Europe/Berlin:20261020T093000", "DURATION:PT30M", "RRULE:FREQ=WEEKLY;BYDAY=TU",
               "EXDATE;TZID=Europe/Berlin:20261027T093000")  # fmt: skip
MOVED = event("1", "RECURRENCE-ID;TZID=Europe/Berlin:20261103T093000", "DTSTART;TZID=Europe/Berlin:20261104T140000",
              "DTEND;TZID=Europe/Berlin:20261104T143000", title="Tea, later")  # fmt: skip


def test_a_repetition_keeps_its_hour_when_the_clock_changes_and_knows_its_exceptions() -> None:
    assert told(calendar(WEEKLY, MOVED), "2026-10-19", "2026-11-12") == [
        "10-20 09:30-10:00 Tea",
        "11-04 14:00-14:30 Tea, later",
        "11-10 09:30-10:00 Tea",
    ]


@pytest.mark.parametrize(
    ("zone", "line"),
    [("Europe/Berlin", "10-20 09:30-10:00 Tea"), ("Asia/Shanghai", "10-20 15:30-16:00 Tea")],
)
def test_the_hours_are_those_of_the_persons_zone(zone: str, line: str) -> None:
    assert told(calendar(WEEKLY), "2026-10-20", "2026-10-20", ZoneInfo(zone)) == [line]


def test_a_zone_that_a_calendar_brings_itself_counts() -> None:
    zone = "\r\n".join((
        "BEGIN:VTIMEZONE", "TZID:Office time", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0300",
        "TZOFFSETTO:+0300", "END:STANDARD", "END:VTIMEZONE"))  # fmt: skip
    data = calendar(zone, event("1", "DTSTART;TZID=Office time:20261201T120000"))
    assert told(data, "2026-12-01", "2026-12-01") == ["12-01 10:00-10:00 Tea"]


def test_a_time_of_no_zone_is_the_persons() -> None:
    data = calendar(event("1", "DTSTART:20261201T120000", "DTEND:20261201T130000"))
    assert told(data, "2026-12-01", "2026-12-01") == ["12-01 12:00-13:00 Tea"]


def test_whole_days_are_days_wherever_the_person_is() -> None:
    data = calendar(event("1", "DTSTART;VALUE=DATE:20261201", "DTEND;VALUE=DATE:20261204", title="Trip"))
    for zone in (BERLIN, ZoneInfo("Pacific/Auckland"), ZoneInfo("America/Los_Angeles")):
        (found,) = on(data, "2026-12-03", "2026-12-10", zone)
        assert found.is_all_day and (found.start.date(), found.last_day) == (date(2026, 12, 1), date(2026, 12, 3))
    assert on(data, "2026-12-04", "2026-12-10") == []


def test_a_night_is_on_both_days_and_midnight_ends_the_first() -> None:
    night = event("1", "DTSTART:20261201T210000Z", "DTEND:20261202T050000Z")
    evening = event("2", "DTSTART:20261201T210000Z", "DTEND:20261201T230000Z", title="Film")
    assert told(calendar(night, evening), "2026-12-02", "2026-12-02") == ["12-01 22:00-06:00 Tea"]


def test_what_is_cancelled_says_so() -> None:
    data = calendar(event("1", "DTSTART:20261201T120000Z", "STATUS:CANCELLED"))
    assert [each.is_cancelled for each in on(data, "2026-12-01", "2026-12-01")] == [True]


def test_an_invitation_is_not_the_persons_even_in_a_calendar_of_their_own() -> None:
    mine = event("1", "DTSTART:20261201T120000Z")
    invited = event("2", "DTSTART:20261201T130000Z", "ORGANIZER:mailto:eve@example.org", title="Obey")
    data = calendar(mine, invited)
    assert [each.is_mine for each in on(data, "2026-12-01", "2026-12-01", mine=True)] == [True, False]
    assert [each.is_mine for each in on(data, "2026-12-01", "2026-12-01")] == [False, False]


def test_one_bad_event_costs_the_others_nothing() -> None:
    bomb = event("boom", "DTSTART:19000101T000000Z", "RRULE:FREQ=SECONDLY")
    broken = event("broken", "DTSTART:never", "RRULE:FREQ=SOMETIMES")
    data = calendar(bomb, broken, event("1", "DTSTART:20261201T120000Z"))
    found = read_calendar(data, "work", date(2026, 12, 1), date(2026, 12, 1), BERLIN)
    assert [each.title for each in found.events] == ["Tea"] and found.left >= 1


@pytest.mark.parametrize("title", ["BEGIN:VCALENDAR", "now\r\n BEGIN:VCALENDAR"])
def test_words_of_a_stranger_do_not_make_a_calendar_unreadable(title: str) -> None:
    assert len(told(calendar(event("1", "DTSTART:20261201T120000Z", title=title)), "2026-12-01", "2026-12-01")) == 1


@pytest.mark.parametrize(
    "data", [b"", b"<html>sign in</html>", b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n", b"\xff\x00" * 99]
)
def test_what_is_no_calendar_is_said(data: bytes) -> None:
    with pytest.raises(UnreadableCalendar, match="no calendar"):
        read_calendar(data, "work", date(2026, 12, 1), date(2026, 12, 1), BERLIN)


def test_the_mark_changes_with_events_only() -> None:
    def mark(*events: str) -> str:
        return read_calendar(calendar(*events), "work", date(2026, 12, 1), date(2026, 12, 1), BERLIN).mark

    one, other = event("1", "DTSTART:20261201T120000Z"), event("2", "DTSTART:20281201T120000Z")
    assert mark(one, other) == mark(other, one.replace("20260101T000000Z", "20261130T111111Z"))
    assert mark(one, other) != mark(one) != mark(one.replace("Tea", "Coffee"))
