"""The times of a job by going through every minute of a zone's time: slow, plain, and without the product's code."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

MINUTE = timedelta(minutes=1)
_SIZES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def minutes(start: datetime, end: datetime) -> Iterator[datetime]:
    """All whole minutes after `start` up to `end`, in UTC."""
    at = start.replace(second=0, microsecond=0) + MINUTE
    while at <= end:
        yield at
        at += MINUTE


def cron_minutes(expression: str, zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """The minutes (UTC) at which a cron expression is due, by the rule for clock changes: a fixed time that a change
    skips comes at the next moment that exists, one that occurs twice the first time; with `*` in the minute or hour,
    each real minute that fits."""
    fields = expression.split()
    sets = [_values(field, *size) for field, size in zip(fields, _SIZES, strict=True)]
    is_fixed = not fields[0].startswith("*") and not fields[1].startswith("*")
    either_day = not fields[2].startswith("*") and not fields[4].startswith("*")

    def fits(wall: datetime) -> bool:
        days = wall.day in sets[2], wall.isoweekday() % 7 in {day % 7 for day in sets[4]}
        right_day = any(days) if either_day else all(days)
        return right_day and wall.minute in sets[0] and wall.hour in sets[1] and wall.month in sets[3]

    found, before = [], _wall(start.replace(second=0, microsecond=0) - timedelta(hours=4), zone)
    latest = before
    for at in minutes(start - timedelta(hours=4), end):
        wall = _wall(at, zone)
        if not is_fixed:
            due = fits(wall)
        else:  # all wall minutes since the latest one so far: none of them twice, and those of a gap at its end
            steps = int((wall - latest) / MINUTE)
            due = any(fits(latest + MINUTE * step) for step in range(1, steps + 1))
        latest = max(latest, wall)
        if due and at > start:
            found.append(at)
    return found


def _wall(at: datetime, zone: ZoneInfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)


def _values(field: str, low: int, high: int) -> set[int]:
    """The numbers of a field: lists, spans, steps and stars."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        begin = low if span == "*" else int(first)
        end = high if span == "*" or (step and not last) else int(last or first)
        found |= set(range(begin, end + 1, int(step or 1)))
    return found


def every_minutes(seconds: int, anchor: datetime, start: datetime, end: datetime) -> list[datetime]:
    """The moments of `every`, one after the other from its anchor."""
    at, found = anchor.astimezone(UTC), []
    while at <= end:
        at += timedelta(seconds=seconds)
        if start < at <= end:
            found.append(at)
    return found


class ZoneMinutes:
    """All minutes of a span of time as a zone's clock shows them, for many expressions."""

    def __init__(self, zone: ZoneInfo, start: datetime, end: datetime) -> None:
        self.start = start
        walls = [_wall(at, zone) for at in minutes(start - MINUTE, end)]
        self._first = walls[0]
        shown = np.array([int((wall - self._first) / MINUTE) for wall in walls])
        self._fields = _fields(walls)
        self._latest = np.maximum.accumulate(shown)
        plain = [self._first + MINUTE * step for step in range(int(self._latest[-1]) + 1)]
        self._plain_fields = _fields(plain)

    def times(self, expression: str) -> list[int]:
        """The seconds (since 1970) at which a cron expression is due, by the same rule as `cron_minutes`."""
        fields = expression.split()
        is_fixed = not fields[0].startswith("*") and not fields[1].startswith("*")
        if is_fixed:  # each minute that a clock without changes would show, at the first real one that is not before it
            steps = np.flatnonzero(_fit(fields, self._plain_fields))
            at = np.unique(np.searchsorted(self._latest, steps))
        else:
            at = np.flatnonzero(_fit(fields, self._fields))
        return [int(self.start.timestamp()) + 60 * int(each) for each in at]


def _fields(walls: list[datetime]) -> "list[np.ndarray[tuple[int], np.dtype[np.int64]]]":
    rows = [(wall.minute, wall.hour, wall.day, wall.month, wall.isoweekday() % 7) for wall in walls]
    return [np.array(column) for column in zip(*rows, strict=True)]


def _fit(
    fields: list[str], columns: "list[np.ndarray[tuple[int], np.dtype[np.int64]]]"
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    sets = [_values(field, *size) for field, size in zip(fields, _SIZES, strict=True)]
    sets[4] = {day % 7 for day in sets[4]}
    fit = [np.isin(column, sorted(values)) for column, values in zip(columns, sets, strict=True)]
    either_day = not fields[2].startswith("*") and not fields[4].startswith("*")
    days = fit[2] | fit[4] if either_day else fit[2] & fit[4]
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = fit[0] & fit[1] & fit[3] & days
    return found
