"""The parts of a time in plain words, as values: what `taking` makes of the forms of a language, and `when` puts
together."""

from collections.abc import Mapping
from datetime import date
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

Part: TypeAlias = Literal["", "am", "pm", "dawn", "morning", "noon", "afternoon", "evening", "night"]


UNIT_DAYS: Mapping[str, int] = {"d": 1, "w": 7, "f": 14}
UNIT_MONTHS: Mapping[str, int] = {"mo": 1, "q": 3, "y": 12}
"""The days, and the months, of a unit as the languages name it."""


class NoSuchTime(Exception):
    """The words are those of a time, but of none that exists, or of more than one. `guesses` are times that may be
    meant, as the parser takes them."""

    def __init__(self, *guesses: str) -> None:
        super().__init__(*guesses)
        self.guesses = guesses


@dataclass(frozen=True, slots=True)
class Repeat:
    """Days that come again and again: each `interval`th day, week, month or year. `weekdays` 0 is Monday; `month_days`
    -1 is the last; `nth` is which of the `weekdays` of a month, -1 the last; `is_set`: any one of the weekdays counts
    (`nth` working day). `months` are those of a year, with `month_days`."""

    each: Literal["day", "week", "month", "year"]
    interval: int = 1
    weekdays: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    nth: int = 0
    is_set: bool = False
    months: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """Again and again after so many seconds."""

    seconds: int


@dataclass(frozen=True, slots=True)
class TimesADay:
    """So often on each day."""

    count: int


@dataclass(frozen=True, slots=True)
class Except:
    """Not on these days of the week."""

    weekdays: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Later:
    """Once, after a while: so many seconds, or days, or months."""

    seconds: int = 0
    days: int = 0
    months: int = 0


@dataclass(frozen=True, slots=True)
class OneDay:
    """One day: the first of these that has the time of day still to come. `others`: the same words may mean these.

    `weekday`, `month_day` and `of_year` (month and day) say how the day was named, for what is repeated on it."""

    days: tuple[date, ...]
    others: tuple[date, ...] = ()
    weekday: int | None = None
    month_day: int = 0
    of_year: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Deadline:
    """A deadline: to be done by then, not then."""


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day. `is_sure`: it can only be this one, also without a part of the day."""

    hour: int
    minute: int = 0
    part: Part = ""
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class PartOfDay:
    """Parts of the day without an hour."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class InZone:
    """A time zone by name."""

    name: str


Unit: TypeAlias = Repeat | Interval | TimesADay | Except | Later | OneDay | Deadline | ClockTime | PartOfDay | InZone
WORKDAYS, WEEKEND = (0, 1, 2, 3, 4), (5, 6)

_HOURS: dict[Part, tuple[frozenset[int], frozenset[int]]] = {
    "am": (frozenset(), frozenset(range(1, 12))),
    "morning": (frozenset(), frozenset(range(1, 12))),
    "noon": (frozenset({1, 2}), frozenset({11, 12, 13})),
    "pm": (frozenset(range(1, 12)), frozenset({12})),
    "afternoon": (frozenset(range(1, 8)), frozenset(range(12, 20))),
    "evening": (frozenset(range(4, 12)), frozenset(range(16, 24))),
    "night": (frozenset(range(8, 12)), frozenset({1, 2, 3, 4, 20, 21, 22, 23})),
    "dawn": (frozenset(), frozenset(range(7))),
}
"""The hours of each part of a day: those to which twelve are added, and those that stay."""
USUAL_HOURS: dict[Part, int] = {"morning": 9, "noon": 12, "afternoon": 15, "evening": 19, "night": 21}
USUAL = 9
"""The hour of a day that is named without one."""
HOURS_A_DAY = {1: (9,), 2: (9, 19), 3: (9, 14, 19), 4: (9, 13, 17, 21)}
"""The hours of what is to be done so often a day."""


def hour_of(clock: ClockTime, part: Part) -> int:
    """The hour from 0 to 23; raises `NoSuchTime` for one that the part of the day does not have."""
    hour = clock.hour
    if hour > 23 or clock.minute > 59:
        raise NoSuchTime
    if not part:
        return hour
    if part == "am" and hour == 12:
        return 0
    added, plain = _HOURS[part]
    if hour in added:
        return hour + 12
    if hour not in plain:
        raise NoSuchTime
    return hour
