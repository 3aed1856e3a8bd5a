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


_PATTERNS = (
    (_ISO, (1, 2, 3)),
    (_CHINESE, (1, 2, 3)),
    (_DAY_MONTH, (3, 2, 1)),
    (_MONTH_DAY, (3, 1, 2)),
    (_MONTH_YEAR, (2, 1, 0)),
    (_ONLY_MONTH, (0, 1, 0)),
)


_NUMBERS = {word: at for at, word in enumerate(("one", "two", "three", "four", "five", "six"), 1)} | {"a couple of": 2}
_NUMBERS |= {digit: at for at, digit in enumerate("一二三四五六", 1)} | {"两": 2}
_RELATIVE = (
    (re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b|今[天日早晚]", re.IGNORECASE), 0),
    (re.compile(r"(?<!before )\byesterday\b|\blast night\b|昨[天日晚]", re.IGNORECASE), 1),
    (re.compile(r"\b(?:the )?day before yesterday\b|前天", re.IGNORECASE), 2),
)
_AGO = re.compile(rf"\b([2-6]|{'|'.join(_NUMBERS)}) days? ago\b|([2-6一二两三四五六])\s*天[以之]?前", re.IGNORECASE)


def relative_days(text: str, today: date) -> tuple[date, ...]:
    """The days of the last week that a text names by their distance from today, the latest first."""
    back = {days for pattern, days in _RELATIVE if pattern.search(text)}
    numbers = (found[1] or found[2] for found in _AGO.finditer(text))
    back |= {_NUMBERS[each.lower()] if each.lower() in _NUMBERS else int(each) for each in numbers}
    return tuple(today - timedelta(days) for days in sorted(back))


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
