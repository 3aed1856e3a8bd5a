"""What comes again each week at an hour, as the person's notes say it: `Swimming on Wednesdays at 16:00`."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import date, time

from agent.config.resources import pattern
from agent.runs.briefing.dated import BriefingLine, own_lines
from agent.times.named_days import parse_days
from agent.times.plain import plain_text
from agent.times.runs import Finder
from agent.times.units import ClockTime, NoSuchTime, Repeat, Unit, hour_of
from agent.vault.find import notes_with_line
from agent.vault.store import Vault
from agent.vault.task_lines import own_notes

_NOTES = 200
"""The most notes that are read."""
_DAYS = 3
"""The most days of a week: what is on each working day, nobody has to be told."""


def weekly_lines(vault: Vault, today: date) -> tuple[BriefingLine, ...]:
    """The lines about something that is on today as in each week, at its hour; none that names a day of the calendar,
    as it may be over, and no box."""
    found: list[BriefingLine] = []
    for path in own_notes(vault, notes_with_line(vault, pattern("weekly").pattern))[:_NOTES]:
        for line in own_lines(vault, path):
            at = None if line.box or parse_days(line.words) else _hour(line.words, today)
            if at is not None:
                found.append(BriefingLine(line.words, path, today, at))
    return tuple(found)


def _hour(words: str, today: date) -> time | None:
    """The time of day at which it is on today; None if it is not."""
    units = tuple(_units(words, today))
    weekly = (unit for unit in units if isinstance(unit, Repeat) and unit.each == "week" and unit.interval == 1)
    is_today = any(today.weekday() in unit.weekdays and len(unit.weekdays) <= _DAYS for unit in weekly)
    clock = next((unit for unit in units if isinstance(unit, ClockTime)), None)
    if not is_today or clock is None:
        return None
    with suppress(NoSuchTime):
        return time(hour_of(clock, clock.part), clock.minute)
    return None


def _units(words: str, today: date) -> Iterator[Unit]:
    """The parts of the time in a line that names just one."""
    plain = plain_text(words)
    with suppress(NoSuchTime, ValueError, OverflowError):
        runs = tuple(Finder.of(plain, today).runs_in(0, len(plain.text)))
        yield from runs[0].units if len(runs) == 1 else ()
