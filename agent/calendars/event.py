"""An event of a calendar, and those of some days."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta, tzinfo

from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """One occurrence of an event. All its words may be a stranger's: `is_mine` is true only in a calendar in which
    nobody else writes, and if it names no other person.

    `start` and `end` have a zone; of one that `is_all_day` they are midnights, and `end` is that after its last day.
    """

    calendar: str
    title: str
    start: datetime
    end: datetime
    is_all_day: bool = False
    is_cancelled: bool = False
    is_mine: bool = False
    place: str = ""
    notes: str = ""

    @property
    def last_day(self) -> date:
        """The last day that it is on."""
        return max(self.start, self.end - timedelta(microseconds=1)).date()

    def is_on(self, day: date) -> bool:
        """True if it is on this day, from its begin to its end."""
        return self.start.date() <= day <= self.last_day


def from_row(row: dict[str, str], calendar: str, zone: tzinfo, *, is_mine: bool) -> CalendarEvent:
    """The event of a row of the reading process, in a zone; raises `ValueError` for what is none.

    A time without a zone, and a day, are those of the person's.
    """
    start, end = _moment(row["start"], zone), _moment(row["end"], zone)
    is_all_day = "T" not in row["start"]
    if is_all_day and end <= start:
        end = datetime.combine(start.date() + timedelta(days=1), time(), zone)
    return CalendarEvent(
        calendar,
        row["title"],
        start,
        max(start, end),
        is_all_day,
        row.get("status") == "CANCELLED",
        is_mine and not row.get("people"),
        row.get("place", ""),
        row.get("notes", ""),
    )


def _moment(text: str, zone: tzinfo) -> datetime:
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=zone) if found.tzinfo is None else found.astimezone(zone)


def events_on(events: Iterable[CalendarEvent], first: date, last: date) -> Sequence[CalendarEvent]:
    """The events that are on one of these days, in the order of their times; an event that two calendars have is
    there once."""
    near = (each for each in events if each.start.date() <= last and each.last_day >= first)
    once: dict[tuple[object, ...], CalendarEvent] = {}
    for each in near:
        key = (each.title, each.start, each.end, each.is_cancelled)
        known = once.get(key)
        once[key] = each if known is None else replace(known, is_mine=known.is_mine and each.is_mine)
    return sorted(once.values(), key=lambda each: (each.start.date(), not each.is_all_day, each.start, each.title))
