"""Has another process read a calendar: its events on some days, and a mark that changes with any of its events."""

import json
import subprocess
from datetime import date, timedelta, tzinfo
from importlib.util import find_spec

from agent.calendars.event import CalendarEvent, from_row
from agent.config.program_parts import command_to_add
from agent.dataclass import dataclass
from agent.errors import os_reason
from agent.json_value import parse_json
from agent.module_process import end_process, start_module
from agent.texts import Sentence

_PROCESS = "agent.calendars.reading_process"
_SECONDS = 60.0
"""The longest time for one calendar, with the start of the process on a slow machine."""
MOST_DAYS = 366


class UnreadableCalendar(Exception):
    """A calendar cannot be read; `problem` says why."""

    def __init__(self, problem: Sentence) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True, slots=True)
class ReadCalendar:
    """The events of a calendar on some days, the number of those that had to be left out, and the mark of all."""

    events: tuple[CalendarEvent, ...] = ()
    left: int = 0
    mark: str = ""


def read_calendar(
    data: bytes, name: str, first: date, last: date, zone: tzinfo, *, is_mine: bool = False
) -> ReadCalendar:
    """The events from `first` to `last`, and some beside them, in a zone. Raises `UnreadableCalendar`."""
    if find_spec("recurring_ical_events") is None:
        needs = "it needs a part that is not installed: {command}"
        raise UnreadableCalendar(Sentence(needs, command=command_to_add("calendars")))
    last = min(last, first + timedelta(days=MOST_DAYS))
    asked = json.dumps({"first": first.isoformat(), "last": last.isoformat()}).encode() + b"\n" + data
    try:
        process = start_module(_PROCESS)
    except OSError as error:
        raise UnreadableCalendar(Sentence("its reader cannot be started: {reason}", reason=os_reason(error))) from error
    try:
        answer, _ = process.communicate(asked, _SECONDS)
        found = parse_json(answer)
        if not isinstance(found, dict) or "problem" in found:
            raise UnreadableCalendar(Sentence("what is there is no calendar"))
        events = (from_row(row, name, zone, is_mine=is_mine) for row in found["events"])
        return ReadCalendar(tuple(events), int(found["left"]), str(found["mark"]))
    except (subprocess.TimeoutExpired, OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise UnreadableCalendar(Sentence("its reader took too long, or crashed on it")) from error
    finally:
        end_process(process)
