"""The tool `calendar`: what is on in the person's calendars on some days. It is there where calendars are set up."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Protocol, TypeAlias

from agent.calendars.event import CalendarEvent
from agent.clock import Clock
from agent.errors import ToolRetry
from agent.llm.messages import JsonObject
from agent.tools import arguments
from agent.tools.tool import RunContext, Tool, ToolOutput

_MOST_DAYS = 92
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Away(Protocol):
    """A calendar that could not be read."""

    @property
    def name(self) -> str: ...


class Days(Protocol):
    """The events on some days, and the calendars that could not be read lately, or not all of them."""

    @property
    def events(self) -> Sequence[CalendarEvent]: ...

    @property
    def away(self) -> Sequence[Away]: ...

    @property
    def left(self) -> Mapping[str, int]: ...

    @property
    def beyond(self) -> Sequence[str]: ...


AskCalendars: TypeAlias = Callable[[date, date], Days]
"""Function from (first day, last day) to what is on."""


def calendar_tool(ask: AskCalendars, clock: Clock) -> Tool:
    """The tool, for the calendars that `ask` knows."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        first = _first_day(call, clock.now().date())
        days = arguments.number(call, "days", 7)
        last = first + timedelta(days=days - 1)
        found = ask(first, last)
        lines = _lines(found.events, first, last)
        text = "\n".join(lines or [f"nothing is on from {first} to {last}"])
        away = [f"The calendar {each.name} could not be read now: this may be old or not all." for each in found.away]
        away += [f"{count} events of the calendar {name} could not be read." for name, count in found.left.items()]
        away += [f"Of the calendar {name} not all of these days are known." for name in found.beyond]
        strangers = dict.fromkeys(each.calendar for each in found.events if not each.is_mine)
        return ToolOutput(
            "\n".join([text, *away]), untrusted=f"the calendar {', '.join(strangers)}" if strangers else ""
        )

    parameters = arguments.schema(
        first={"type": "string", "description": "2026-12-24; today"},
        days={"type": "integer", "minimum": 1, "maximum": _MOST_DAYS, "description": "7"},
    )
    description = "What is on in the person's calendars, from a first day on."
    return Tool("calendar", description, parameters, perform, frozenset({"calendar"}), readonly=True, timeout=120.0)


def _first_day(call: JsonObject, today: date) -> date:
    written = arguments.text(call, "first").strip()
    try:
        found = date.fromisoformat(written[:10]) if written else today
    except ValueError as error:
        raise ToolRetry("`first` must be a day such as 2026-12-24") from error
    if not date(1970, 1, 1) <= found <= date(2200, 1, 1):
        raise ToolRetry("`first` must be a day between 1970 and 2200")
    return found


def _lines(events: Sequence[CalendarEvent], first: date, last: date) -> list[str]:
    """A line for each event below its day, or below the first of the days if it began before."""
    lines: list[str] = []
    headed_day: date | None = None
    for event in events:
        day = max(event.start.date(), first)
        if day != headed_day:
            lines.append(f"{_DAYS[day.weekday()]}, {day}:")
            headed_day = day
        lines.append(f"- {_line(event, day)}")
    return lines


def _line(event: CalendarEvent, day: date) -> str:
    begun, until = event.start.date() < day, event.last_day > day
    if event.is_all_day:
        hours = f"all day, until {event.last_day}" if until else "all day"
    else:
        start = "goes on" if begun else f"{event.start:%H:%M}"
        end = f"{event.end:%Y-%m-%d %H:%M}" if until else f"{event.end:%H:%M}"
        hours = start if event.end == event.start else f"{start}-{end}" if not begun else f"goes on until {end}"
    parts = [f"{hours} {event.title or '(no title)'}", "CANCELLED" if event.is_cancelled else "", event.place]
    parts.append(f"({event.calendar})")
    return "; ".join(filter(None, parts)) + (f"\n  {event.notes}" if event.notes else "")
