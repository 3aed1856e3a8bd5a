"""Days and months in a query, and the closeness of a note's day to them.

People write about a day on that day or shortly after it, so the following days also count. Filters (`after:`,
`before:`) are exact and are left to `query`.
"""

import re
from calendar import monthrange
from datetime import date, timedelta
from functools import cache

from agent.dataclass import dataclass

_NAMES = "january february march april may june july august september october november december"
MONTHS = tuple(_NAMES.split())
_MONTHS = {name[:length]: at for at, name in enumerate(MONTHS, 1) for length in (3, len(name))} | {"sept": 9}
_MONTH = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"\b([0-3]?[0-9])(?:st|nd|rd|th)?"
_YEAR = r"((?:19|20)[0-9]{2})\b"
_ISO = re.compile(r"\b((?:19|20)[0-9]{2})[-/.]([01]?[0-9])(?:[-/.]([0-3]?[0-9]))?\b")
_CHINESE = re.compile(r"(?:([12][0-9]{3})\s*年\s*)?([01]?[0-9])\s*月(?:\s*([0-3]?[0-9])\s*[日号])?")
_DAY_MONTH = re.compile(rf"{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR})?", re.IGNORECASE)
_MONTH_YEAR = re.compile(rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}", re.IGNORECASE)
_ONLY_MONTH = re.compile(rf"\b(?:in|during|of|since|last|this|early|late|mid)[\s-]+{_MONTH}", re.IGNORECASE)
AFTER_DAYS = 10
"""Days after the day in the query that still count, with decreasing weight: people write "yesterday" and "last
week"."""


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day, or a month (`day` 0), with or without (0) its year."""

    year: int
    month: int
    day: int = 0


def parse_days(text: str) -> tuple[NamedDay, ...]:
    """The days and months in a text, unordered; impossible ones are left out."""
    found: set[NamedDay] = set()
    rest = text
    for pattern, order in _PATTERNS:
        for match in pattern.finditer(rest):
            year, month, day = (match[group] if group else None for group in order)
            number = _MONTHS.get((month or "").lower()) or int(month or 0)
            named = NamedDay(int(year or 0), number, int(day or 0))
            if 1 <= named.month <= 12 and named.day <= monthrange(named.year or 2000, named.month)[1]:
                found.add(named)
        rest = pattern.sub(" ; ", rest)
    return tuple(found)


def without_days(text: str) -> str:
    """The text without the days and months in it, and the words that lead to them: "in", "since"."""
    for led in _led_patterns():
        text = led.sub(" ", text)
    return " ".join(text.split())


def day_of_text(text: str) -> str:
    """The day (ISO) of a note with this name or heading: the only whole one in it; empty for none, or several.

    >>> day_of_text("8 May 2023"), day_of_text("20230508 Dentist"), day_of_text("2023年5月8日"), day_of_text("8.5.2023")
    ('2023-05-08', '2023-05-08', '2023-05-08', '2023-05-08')
    """
    plain = _EUROPEAN.sub(r"\3-\2-\1", _COMPACT.sub(r"\1-\2-\3", text.replace("_", "-")))
    found = {each for each in parse_days(plain) if each.year and each.day}
    return span(*next((each.year, each.month, each.day) for each in found))[0].isoformat() if len(found) == 1 else ""


@cache
def _led_patterns() -> tuple[re.Pattern[str], ...]:
    led = r"(?:\b(?:back in|in|on|during|of|since|from|around|by|at) )?"
    return tuple(re.compile(f"{led}(?:{pattern.pattern})", re.IGNORECASE) for pattern, _ in _PATTERNS)


_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d\d)([01]\d)([0-3]\d)(?!\d)")
_EUROPEAN = re.compile(r"(?<![\d.])([0-3]?\d)\.([01]?\d)\.((?:19|20)\d\d)(?!\d)")
_PATTERNS = (
    (_ISO, (1, 2, 3)),
    (_CHINESE, (1, 2, 3)),
    (_DAY_MONTH, (3, 2, 1)),
    (_MONTH_DAY, (3, 1, 2)),
    (_MONTH_YEAR, (2, 1, 0)),
    (_ONLY_MONTH, (0, 1, 0)),
)


def closeness(asked: tuple[NamedDay, ...], day: str) -> float:
    """A score from 0 to 1: the closeness of a note's day (`YYYY-MM-DD`, or empty) to the days in a query."""
    if not asked or not day:
        return 0.0
    try:
        written = date.fromisoformat(day)
    except ValueError:
        return 0.0
    return max(_close(each, written) for each in asked)


def _close(asked: NamedDay, written: date) -> float:
    best = 0.0
    for year in (asked.year,) if asked.year else (written.year, written.year - 1):
        first, last = span(year, asked.month, asked.day)
        gap = (written - last).days
        if first <= written <= last:
            return 1.0
        if 0 < gap <= AFTER_DAYS:
            best = max(best, 0.8 * (1 - gap / (AFTER_DAYS + 1)))
    return best


@cache
def span(year: int, month: int, day: int) -> tuple[date, date]:
    """The first and last day of a day or a month (`day` 0); raises `ValueError` when the calendar does not have it."""
    days = monthrange(year, month)[1]
    first = date(year, month, min(day, days) or 1)
    return first, first if day else first + timedelta(days - 1)


def answering_days(asked: NamedDay) -> tuple[str, str]:
    """The first and last day (ISO) of the notes that can match this day or month."""
    first, last = span(asked.year, asked.month, asked.day)
    return first.isoformat(), (last + timedelta(AFTER_DAYS)).isoformat()
