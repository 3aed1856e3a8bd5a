"""The parts of a time in plain words, as values; `plain_english` and `plain_chinese` find them in a text."""

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

PartOfDay: TypeAlias = Literal["", "am", "pm", "night_start", "morning", "noon", "afternoon", "evening", "night"]


class Unclear(Exception):
    """The words are those of a time, but of none that exists."""


@dataclass(frozen=True, slots=True)
class Days:
    """Days of the week as cron has them, again and again; `every_other` instead: each second day."""

    week: str = "*"
    part: PartOfDay = ""
    every_other: bool = False


@dataclass(frozen=True, slots=True)
class MonthDay:
    """A day of each month, 1 to 31 or `L` for the last."""

    day: str


@dataclass(frozen=True, slots=True)
class Interval:
    """Again and again after so many seconds."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Later:
    """Once, after so many seconds."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Day:
    """One day: so many days from now, or (`weekday`, 0 is Monday) the next such day, or that of next week."""

    ahead: int = 0
    weekday: int | None = None
    is_next_week: bool = False
    part: PartOfDay = ""


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """One day of the calendar; of the next year that has it to come, if `year` is None."""

    month: int
    day: int
    year: int | None = None


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day. `is_sure`: it can only be this one, also without a day or a part of one."""

    hour: int
    minute: int = 0
    part: PartOfDay = ""
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class InZone:
    """A time zone by name."""

    name: str


Unit: TypeAlias = Days | MonthDay | Interval | Later | Day | CalendarDay | ClockTime | InZone
Build: TypeAlias = Callable[[re.Match[str]], Unit | None]
"""Makes a unit of a match; None if the words are none after all. Raises `Unclear`."""


@dataclass(frozen=True, slots=True)
class UnitWords:
    """The words of one kind of unit, at the beginning and at the end of a text."""

    at_start: re.Pattern[str]
    at_end: re.Pattern[str]
    build: Build


_HOURS: dict[PartOfDay, tuple[frozenset[int], frozenset[int]]] = {
    "am": (frozenset(), frozenset(range(1, 12))),
    "morning": (frozenset(), frozenset(range(1, 12))),
    "noon": (frozenset({1, 2}), frozenset({11, 12, 13})),
    "pm": (frozenset(range(1, 12)), frozenset({12})),
    "afternoon": (frozenset(range(1, 8)), frozenset(range(12, 20))),
    "evening": (frozenset(range(4, 12)), frozenset(range(16, 24))),
    "night": (frozenset(range(8, 12)), frozenset({1, 2, 3, 4, 20, 21, 22, 23})),
    "night_start": (frozenset(), frozenset(range(6))),
}
"""The hours of each part of a day: those to which twelve are added, and those that stay."""


def hour_of(clock: ClockTime, part: PartOfDay) -> int:
    """The hour from 0 to 23; raises `Unclear` for one that the part of the day does not have."""
    hour = clock.hour
    if hour > 23 or clock.minute > 59:
        raise Unclear
    if not part:
        return hour
    if part == "am" and hour == 12:
        return 0
    added, plain = _HOURS[part]
    if hour in added:
        return hour + 12
    if hour not in plain:
        raise Unclear
    return hour
