"""The English words of times, for `plain_times`."""

import re
from functools import lru_cache
from typing import cast
from zoneinfo import available_timezones

from agent.errors import UserError
from agent.schedule.occurrences import UTC_NAME, zone_of
from agent.schedule.plain_units import (
    Build,
    CalendarDay,
    ClockTime,
    Day,
    Days,
    Interval,
    InZone,
    Later,
    MonthDay,
    PartOfDay,
    Unclear,
    Unit,
    UnitWords,
)

_UP_TO_TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {
    **{word: number for number, word in enumerate(_UP_TO_TEN, 1)},
    "a": 1,
    "an": 1,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "ninety": 90,
}
_ORDINALS = {"first": "1", "second": "2", "third": "3", "last": "L", "last day": "L"}
_SECONDS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_N = rf"(?:\d{{1,3}}|{'|'.join(_NUMBERS)})"
_WD = r"(?:mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
_WD_NAME = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_WDS = r"(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays)"
_AND = r"(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*&\s*)"
_PART = r"(?:\s+(?P<part>morning|afternoon|evening|night))?"
_ORD = r"(?P<ord>first|second|third|last day|last|\d{1,2}(?:st|nd|rd|th))"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"
_TH = r"(?:st|nd|rd|th)?"
_HOUR = rf"(?P<hour>\d{{1,2}}|{'|'.join(word for word, number in _NUMBERS.items() if number <= 12 and len(word) > 2)})"
_HALF = r"(?P<half>am|pm|a\.m\.|p\.m\.)"
_CITY = r"(?P<city>[A-Z]\w+(?: [A-Z]\w+)?)"
_IN_PART = r"(?:\s+in\s+the\s+(?P<part>morning|afternoon|evening)|\s+at\s+(?P<late>night))?"


def _part(match: re.Match[str]) -> PartOfDay:
    given = match.groupdict()
    return cast(PartOfDay, (given.get("part") or given.get("late") or "").lower())


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text.lower()]


def _weekday(name: str) -> int:
    return _WEEK.index(name[:3].lower())


def _weekdays(match: re.Match[str]) -> Unit:
    names = re.findall(r"[a-z]+", match["days"].lower())
    days = [_WEEK.index(name[:3]) for name in names if name != "and"]
    return Days(",".join(str((day + 1) % 7) for day in dict.fromkeys(days)), _part(match))


def _month_day(match: re.Match[str]) -> Unit:
    word = match["ord"].lower()
    day = _ORDINALS.get(word) or str(int(word[:-2]))
    if day != "L" and not 1 <= int(day) <= 31:
        raise Unclear
    return MonthDay(day)


def _date(match: re.Match[str]) -> Unit:
    year = match.groupdict().get("year")
    month = match["month"].lower()
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
    return CalendarDay(number, int(match["day"]), int(year) if year else None)


def _interval(match: re.Match[str]) -> Unit:
    number = _number(match["n"]) if match["n"] else 1
    return Interval(number * _SECONDS[match["unit"].lower()])


def _later(match: re.Match[str]) -> Unit:
    return Later(_number(match["n"]) * _SECONDS[match["unit"].lower()])


def _clock(match: re.Match[str]) -> Unit:
    given = match.groupdict()
    hour, minute, half = _number(match["hour"]), int(given.get("minute") or 0), given.get("half") or ""
    part = cast(PartOfDay, half.lower().replace(".", "")) or _part(match)
    if half and hour > 12:
        raise Unclear
    is_sure = bool(half) or bool(given.get("late")) or hour >= 13 or re.match(r"(?:at\s+)?0\d", match[0]) is not None
    return ClockTime(hour, minute, part, is_sure or bool(part))


def _clock_past(match: re.Match[str]) -> Unit:
    hour, how = _number(match["hour"]), match["how"].lower().split()
    minute = 30 if how[0] == "half" else 15 if how[1] == "past" else 45
    return ClockTime(hour - 1 if minute == 45 else hour, minute, _part(match))


def _zone(match: re.Match[str]) -> Unit | None:
    if match[0].strip() in ("UTC", "GMT"):
        return InZone(UTC_NAME)
    if match["zone"]:
        try:
            return InZone(zone_of(match["zone"]).key)
        except UserError as error:
            raise Unclear from error
    names = _zones_by_city().get(match["city"].lower(), ())
    return InZone(names[0]) if len(names) == 1 else None


@lru_cache(maxsize=1)
def _zones_by_city() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in sorted(available_timezones()):
        if name.count("/") == 1 and not name.startswith(("Etc/", "posix/", "right/", "US/", "SystemV/")):
            city = name.partition("/")[2].replace("_", " ").lower()
            found[city] = (*found.get(city, ()), name)
    return found


def _words(pattern: str, build: Build, flags: int = re.IGNORECASE) -> UnitWords:
    start = re.compile(rf"(?:{pattern})(?=$|[\s,.:;])", flags)
    return UnitWords(start, re.compile(rf"(?:^|(?<=[\s,]))(?:{pattern})[\s.!]*$", flags), build)


_EVERY = r"(?:every|each)\s+"
ENGLISH = (
    _words(rf"{_EVERY}(?:single\s+)?day|daily", lambda _: Days()),
    _words(rf"{_EVERY}(?P<part>morning|afternoon|evening|night)", lambda match: Days("*", _part(match))),
    _words(
        rf"(?:{_EVERY}(?:weekday|workday|working\s+day)|(?:on\s+)?weekdays){_PART}",
        lambda match: Days("1-5", _part(match)),
    ),
    _words(rf"(?:{_EVERY}weekend|(?:(?:on|at)\s+)?weekends){_PART}", lambda match: Days("6,0", _part(match))),
    _words(r"every\s+(?:other\s+day|second\s+day|2nd\s+day|2\s+days|two\s+days)", lambda _: Days(every_other=True)),
    _words(rf"{_EVERY}(?P<days>{_WD}(?:{_AND}{_WD})*){_PART}", _weekdays),
    _words(rf"(?:on\s+)?(?P<days>{_WDS}(?:{_AND}{_WDS})*){_PART}", _weekdays),
    _words(rf"(?:on\s+)?the\s+{_ORD}(?:\s+day)?\s+of\s+(?:each|every|the)\s+month", _month_day),
    _words(rf"(?:{_EVERY}month|monthly)\s+on\s+the\s+{_ORD}(?:\s+day)?", _month_day),
    _words(r"today", lambda _: Day()),
    _words(r"tonight", lambda _: Day(part="evening")),
    _words(rf"tomorrow{_PART}", lambda match: Day(1, part=_part(match))),
    _words(r"the\s+day\s+after\s+tomorrow", lambda _: Day(2)),
    _words(
        rf"(?:(?:on|this)\s+(?P<day>{_WD})|(?P<name>{_WD_NAME})(?=\s+\S)){_PART}",
        lambda match: Day(weekday=_weekday(match["day"] or match["name"]), part=_part(match)),
    ),
    _words(
        rf"(?:on\s+)?next\s+(?P<day>{_WD}){_PART}",
        lambda match: Day(weekday=_weekday(match["day"]), is_next_week=True, part=_part(match)),
    ),
    _words(rf"on\s+(?:the\s+)?(?P<day>\d{{1,2}}){_TH}\s+(?:of\s+)?{_MONTH}{_YEAR}", _date),
    _words(rf"on\s+{_MONTH}\s+(?P<day>\d{{1,2}}){_TH}{_YEAR}", _date),
    _words(r"(?:on\s+)?(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)", _date),
    _words(rf"every\s+(?:(?P<n>{_N})\s+)?(?P<unit>hour|minute|min|second|sec)s?", _interval),
    _words(r"hourly", lambda _: Interval(3600)),
    _words(r"every\s+half(?:\s+an)?\s+hour", lambda _: Interval(1800)),
    _words(rf"in\s+(?P<n>{_N})\s+(?P<unit>minute|min|hour|day|week)s?", _later),
    _words(r"in\s+half\s+an\s+hour", lambda _: Later(1800)),
    _words(rf"at\s+{_HOUR}(?:[:.](?P<minute>\d\d))?(?:\s*{_HALF}|\s+o'clock)?{_IN_PART}", _clock),
    _words(rf"(?P<hour>\d{{1,2}})(?:[:.](?P<minute>\d\d))?\s*{_HALF}", _clock),
    _words(rf"(?P<hour>\d{{1,2}}):(?P<minute>\d\d){_IN_PART}", _clock),
    _words(rf"(?:at\s+)?(?P<how>half\s+past|quarter\s+past|quarter\s+to)\s+{_HOUR}{_IN_PART}", _clock_past),
    _words(r"at\s+noon", lambda _: ClockTime(12, is_sure=True)),
    _words(r"at\s+midnight", lambda _: ClockTime(0, is_sure=True)),
    _words(rf"(?:in\s+)?(?P<zone>[A-Z]\w+/[A-Z][\w/+-]+)(?:\s+time)?|UTC|GMT|{_CITY} time", _zone, 0),
)
LEAD = re.compile(r"((?:please\s+)?remind\s+me)\s+(.+)", re.IGNORECASE | re.DOTALL)
"""Words before a time that belong to the task."""
LEFT_OVER = re.compile(
    r"^(?:and|or|but|then\s+at|except|until|till|unless|between|starting|from\s+\d)\b|\bexcept\b|\buntil\b"
    r"|^for\s+\S+\s+(?:days?|weeks?|months?|times)\b|^\d{1,2}\s*(?:,|and\b|&)|\bat\s+(?:noon|midnight)\b"
    r"|\b(?:due|is|are|starts?|ends?|for|by|before|after|until|till|from)$|\bat\s+\d|\b\d{1,2}:\d\d\b|\b\d{1,2}\s*[ap]m\b",
    re.IGNORECASE,
)
"""What the rest of a text must not have: then the time is more than was understood."""
OTHER_DAY = re.compile(
    rf"\b(?:every|daily|today|tomorrow|tonight|weekdays|weekends|(?:on|this|next)\s+{_WD}|{_WDS})\b", re.IGNORECASE
)
"""Days that may belong to a time of day that stands without one."""
