"""A process that reads one calendar for `reading`: what a calendar does to its reader, it does not do to the daemon.

Its input is a line of JSON with two days, `{"first": "2026-12-01", "last": "2026-12-08"}`, and the bytes of the
calendar; its output is one JSON document: the `events` that are on these days or a day beside them, how many were
`left` out, and a `mark` of all events, the same for the same ones. A day stands for an event without a time, a time
without an offset for one of no zone. The only module with the libraries.
"""

import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from hashlib import sha256

import recurring_ical_events
from icalendar import Calendar, Event

from agent.platform.here import platform

MEMORY = 1_500_000_000
"""Bytes of address space of this process."""
SECONDS = 20
"""Seconds of processor time for one calendar, and `EVENT_SECONDS` for one event with its repetitions."""
EVENT_SECONDS = 0.5
MOST_EVENTS = 1_000
_VOLATILE = ("DTSTAMP", "LAST-MODIFIED")
"""What servers change in events that are the same."""
_BEGIN = re.compile(rb"^BEGIN:VCALENDAR\s*$", re.MULTILINE | re.IGNORECASE)
"""A line; the same words in a title begin nothing."""
_NEAR = timedelta(days=2)
_WORDS = {"title": ("SUMMARY", 200), "place": ("LOCATION", 120), "notes": ("DESCRIPTION", 500)}


class _TooLong(Exception):
    pass


def serve() -> None:
    """Read one calendar."""
    _confine()
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    asked = json.loads(sys.stdin.buffer.readline())
    first, last = date.fromisoformat(asked["first"]), date.fromisoformat(asked["last"])
    try:
        found = read(sys.stdin.buffer.read(), first, last)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, MemoryError) as error:
        found = {"problem": type(error).__name__}
    outgoing.write(json.dumps(found).encode())
    outgoing.flush()


def _confine() -> None:
    """Let this process write no file, start no process, and use so much memory and time only."""
    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_CPU": SECONDS + 2,
        "RLIMIT_AS": MEMORY,
        "RLIMIT_NPROC": 0,
    }
    platform().limit(limits)


def read(data: bytes, first: date, last: date) -> dict[str, object]:
    """The events on these days and beside them; raises what the libraries raise for what is no calendar."""
    rows: list[dict[str, str]] = []
    marks: list[str] = []
    left, until = 0, time.monotonic() + SECONDS / 2
    calendars = Calendar.from_ical(data, multiple=True)
    if len(calendars) != len(_BEGIN.findall(data)) or not calendars:
        raise ValueError("cut off")  # its missing events would count as deleted
    for calendar in calendars:
        groups = _groups(calendar)
        marks += (_mark(each) for group in groups for each in group)
        for group in groups:
            if not _may_be_near(group, first, last):
                continue
            try:
                if time.monotonic() > until or len(rows) >= MOST_EVENTS:
                    raise _TooLong
                rows += _expanded(calendar, group, first, last)
            except Exception:  # noqa: BLE001 - one bad event costs the others nothing
                left += 1
    whole = sha256("\n".join(sorted(marks)).encode()).hexdigest()
    return {"events": rows[:MOST_EVENTS], "left": left + max(0, len(rows) - MOST_EVENTS), "mark": whole}


def _groups(calendar: Calendar) -> list[list[Event]]:
    """The events of a calendar, each with the exceptions to its repetitions."""
    groups: dict[str, list[Event]] = {}
    for number, event in enumerate(each for each in calendar.walk("VEVENT") if isinstance(each, Event)):
        groups.setdefault(str(event.get("UID") or number), []).append(event)
    return list(groups.values())


def _may_be_near(group: list[Event], first: date, last: date) -> bool:
    if len(group) > 1 or any(key in group[0] for key in ("RRULE", "RDATE", "RECURRENCE-ID")):
        return True
    with suppress(ValueError, TypeError, LookupError, AttributeError):
        start, end = (_day(each) for each in (group[0].start, group[0].end))
        return start <= last + _NEAR and end >= first - _NEAR
    return True


def _day(moment: date) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def _expanded(calendar: Calendar, group: list[Event], first: date, last: date) -> list[dict[str, str]]:
    one_event = Calendar()
    if "X-WR-TIMEZONE" in calendar:
        one_event["X-WR-TIMEZONE"] = calendar["X-WR-TIMEZONE"]
    for event in group:
        one_event.add_component(event)
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, EVENT_SECONDS)
    try:
        query = recurring_ical_events.of(one_event)
        return [_row(each) for each in query.between(first - timedelta(days=1), last + _NEAR)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _stop(number: int, frame: object) -> None:
    raise _TooLong


def _row(event: Event) -> dict[str, str]:
    start, end = event.start, event.end
    row = {"start": start.isoformat(), "end": end.isoformat()}
    row |= {name: _words(event.get(key), most) for name, (key, most) in _WORDS.items()}
    row["status"] = str(event.get("STATUS") or "").upper()
    row["people"] = "yes" if event.get("ORGANIZER") or event.get("ATTENDEE") else ""
    return row


def _words(value: object, most: int) -> str:
    if isinstance(value, list):
        value = value[0]
    return " ".join(str(value or "").split())[:most]


def _mark(event: Event) -> str:
    stable_lines = (line for line in _lines(event) if not line.startswith(_VOLATILE))
    return sha256("\n".join(stable_lines).encode()).hexdigest()


def _lines(event: Event) -> Iterator[str]:
    with suppress(Exception):  # an event that cannot be written is told by the others
        yield from event.to_ical(sorted=True).decode("utf-8", "replace").splitlines()


if __name__ == "__main__":
    serve()
