"""Parses times as people and programs type them: `2h`, `last Monday`, `昨天`, `2026-11-21`, `2026-11-21T14:30`."""

import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from agent.clock import in_clock_zone
from agent.errors import UserError
from agent.lazy import later

if TYPE_CHECKING:
    from agent.times.periods import parse_period
else:  # most times are typed as figures
    parse_period = later("agent.times.periods", "parse_period")


_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_AGO = re.compile(r"(\d{1,6})\s*([smhdw])")
_ISO = "2026-11-21"
_HINT = "2h, 30m, 1d, today, yesterday, 2026-11-21, 2026-11-21T14:30"


def parse_time(text: str, now: datetime, *, end: bool = False) -> datetime:
    """The time in `text`, with an offset; raises `UserError`.

    A number with s, m, h, d or w is that long ago. A day, a week or a month is its beginning, or with `end` its end.
    Without an offset the time is local.
    """
    plain = text.strip()
    if ago := _AGO.fullmatch(plain.lower()):
        try:
            return now - timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]])
        except OverflowError as error:
            raise UserError(
                "{text} is too long ago", hint="a time looks like: {examples}", text=text, examples=_HINT
            ) from error
    if plain.lower() == "now":
        return now
    try:
        if days := _days(plain, now):
            day = days[-1] if end else days[0]
            start = datetime(day.year, day.month, day.day)
            return in_clock_zone(start + timedelta(days=1) - timedelta(microseconds=1) if end else start, now)
        found = datetime.fromisoformat(plain)
        return found if found.tzinfo else in_clock_zone(found, now)
    except (ValueError, OverflowError) as error:
        raise UserError(
            "{text!r} is not a time", hint="a time looks like: {examples}", text=text, examples=_HINT
        ) from error


def _days(text: str, now: datetime) -> tuple[date, date] | None:
    """The first and last day of a text that names no moment; those in words are over or of today."""
    if text[:4].isdecimal() and len(text) >= len(_ISO):
        return (date.fromisoformat(text),) * 2 if len(text) == len(_ISO) else None
    found = parse_period(text, now.date())
    return (found.first, found.last) if found else None
