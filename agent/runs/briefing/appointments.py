"""What the calendars say of a day and of the week behind it, as lines of a briefing."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, tzinfo

from agent.calendars.event import CalendarEvent
from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.runs.briefing.dated import WEEK, BriefingLine, day_words
from agent.runs.calendars import agenda
from agent.texts import Language, text
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Appointments:
    """What is on `today` and in the `week` behind it, and a sentence for each calendar that could not be read, or
    not all of it."""

    today: tuple[BriefingLine, ...] = ()
    week: tuple[BriefingLine, ...] = ()
    away: tuple[str, ...] = ()


def appointments(workspace: Workspace, today: date, zone: tzinfo | None) -> Appointments:
    """The events that are not cancelled, with the hours of the zone; None: the clock's."""
    found = agenda(workspace, today, today + WEEK, zone)
    language = workspace.settings.vault.language
    lines = [line for each in found.events if not each.is_cancelled for line in _lines(each, today, language)]
    now = workspace.clock.now()
    return Appointments(
        tuple(each for each in lines if each.day == today),
        tuple(each for each in lines if each.day > today),
        (
            *(_away(each.name, in_clock_zone(each.since, now), language) for each in found.away),
            *(
                text("briefing.calendar_left", language, name=name, count=count)
                for name, count in sorted(found.left.items())
            ),
        ),
    )


def _lines(event: CalendarEvent, today: date, language: Language) -> Iterator[BriefingLine]:
    """The line on the first of the days that the event is on, today or later; today's also says the place."""
    day = max(event.start.date(), today)
    at = None if event.is_all_day or event.start.date() < day else event.start.timetz().replace(tzinfo=None)
    title = event.title or text("briefing.no_title", language)
    words = f"{at:%H:%M} {title}" if at else title
    if event.last_day > day:
        until = text("briefing.until", language, day=day_words(event.last_day, language))
        words = f"{words} ({until})"
    if event.place and day == today:
        words = f"{words}, {event.place}"
    line = BriefingLine(words, "", day, at)
    yield line if event.is_mine else replace(line, stranger=f"the calendar {event.calendar}")


def _away(name: str, since: datetime, language: Language) -> str:
    day = day_words(since.date(), language)
    return text("briefing.calendar_away", language, name=name, day=day, time=f"{since:%H:%M}")
