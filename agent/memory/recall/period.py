"""A stretch of days in plain words, English and Chinese: `last week`, `past 3 days`, `上周`, `2026-11`, `since Monday`.

Looks back from today. `parse_period` reads a text that names a period and nothing else, `find_periods` those that a
sentence names. Weeks begin on Monday.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache

from agent.dataclass import dataclass
from agent.index.query import MONTHS, parse_days, span

_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NUMBERS = {word: at for at, word in enumerate(_ONES, 1)}
_NUMBERS |= {sign: at for at, sign in enumerate("一二三四五六七八九十", 1)}
_NUMBERS |= {"a couple of": 2, "couple of": 2, "两": 2, "a few": 3, "few": 3, "几": 3}
_COUNT = "([0-9]{1,4}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_HAN_DAYS = "一二三四五六日"
_WEEKDAY = "(" + "|".join(name[:3] + f"(?:{name[3:]})?" for name in _WEEKDAYS) + ")"
_FULL_WEEKDAY = "(" + "|".join(_WEEKDAYS) + ")"
_HAN_WEEK = "(?:周|星期|礼拜)"
_UNIT = {"day": "day", "week": "week", "month": "month", "year": "year"}
_UNIT |= {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_UNITS = "|".join(sorted(_UNIT, key=len, reverse=True))
_LONGEST = 100
_EARLIEST = date(1, 1, 1)


@dataclass(frozen=True, slots=True)
class NamedPeriod:
    """A period with its place in the text that names it. `is_over`: the words look back, as "last Tuesday" does, where
    "on Tuesday" and "this week" may mean days to come."""

    first: date
    last: date
    begin: int
    end: int
    is_over: bool

    @property
    def is_day(self) -> bool:
        return self.first == self.last


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both included."""

    first: date
    last: date

    @property
    def days(self) -> tuple[date, ...]:
        """Its days, the latest first."""
        return tuple(self.last - timedelta(days=back) for back in range((self.last - self.first).days + 1))


def parse_period(text: str, today: date) -> Period | None:
    """The period that a text names, none of it after `today`; None if it is not understood."""
    plain = " ".join(text.casefold().split()).strip(" .,。，")
    if not plain or len(plain) > _LONGEST:
        return None
    try:
        found = _between(plain, today) or _single(plain, today)
    except (ValueError, OverflowError):  # a day that the calendar does not have
        return None
    if found is None or found.first > today or found.first > found.last:
        return None
    return Period(found.first, min(found.last, today))


def find_periods(text: str, today: date) -> tuple[NamedPeriod, ...]:
    """The periods that the words of a text name by their distance from today, by a day of the week, or by the name of a
    month or a year alone, in their order; none of them begins after `today`."""
    low = text.lower() if len(text.lower()) == len(text) else text
    found: list[NamedPeriod] = []
    for pattern, build in _searched():
        for match in pattern.finditer(low):
            try:
                named = build(match, today)
            except (ValueError, OverflowError):
                continue
            if named.first <= today:
                is_over = build in _PAST or _LOOKS_BACK.search(match[0]) is not None
                found.append(NamedPeriod(named.first, min(named.last, today), *match.span(), is_over))
    alone: list[NamedPeriod] = []
    for each in sorted(found, key=lambda each: each.begin - each.end):  # of "last Monday" and "Monday" the longer
        if all(each.end <= other.begin or other.end <= each.begin for other in alone):
            alone.append(each)
    return tuple(sorted(alone, key=lambda each: each.begin))


_BETWEEN = re.compile(r"(?:from |between |从)?(.+?)(?: ?(?:\.\.|…|~|—|–) ?| (?:to|until|till|and|-) | ?[到至] ?)(.+)")
_SINCE = re.compile(r"(?:(?:ever )?since |from |自从?)(.+?)(?:以来| on)?|(.+)以来")


def _between(text: str, today: date) -> Period | None:
    if match := _BETWEEN.fullmatch(text):
        first, last = _single(match[1].strip(), today), _single(match[2].strip(), today)
        return Period(first.first, last.last) if first and last else None
    if match := _SINCE.fullmatch(text):
        first = _single((match[1] or match[2]).strip(), today)
        return Period(first.first, today) if first else None
    return None


def _single(text: str, today: date) -> Period | None:
    for pattern, build in _FORMS:
        if match := pattern.fullmatch(text):
            return build(match, today)
    return _calendar(text, today)


def _calendar(text: str, today: date) -> Period | None:
    """A day or a month by name; one without a year is the latest that has begun."""
    named = parse_days(text) if any(char.isdigit() for char in text) or " " in text else parse_days(f"in {text}")
    if len(named) != 1 or not _CALENDAR.fullmatch(text):
        return None
    (found,) = named
    year = found.year or today.year
    first, last = span(year, found.month, found.day)
    if not found.year and first > today:
        first, last = span(year - 1, found.month, found.day)
    return Period(first, last)


_CALENDAR = re.compile(r"(?:in |on )?[\w .,/-]+|[0-9年月日号 ]+")


def _unit(text: str) -> str:
    return _UNIT[text.removesuffix("s").removeprefix("个") if text.isascii() else text.removeprefix("个")]


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text]


def _whole(unit: str, back: int, today: date) -> Period:
    """The day, week, month or year so many before the present one."""
    match unit:
        case "day":
            day = today - timedelta(days=back)
            return Period(day, day)
        case "week":
            monday = today - timedelta(days=today.weekday() + 7 * back)
            return Period(monday, monday + timedelta(days=6))
        case "month":
            months = today.year * 12 + today.month - 1 - back
            return Period(*span(months // 12, months % 12 + 1, 0))
        case _:
            return Period(date(today.year - back, 1, 1), date(today.year - back, 12, 31))


def _past(match: re.Match[str], today: date) -> Period:
    """So many days, weeks, months or years up to today."""
    count, unit = _number(match[1]), _unit(match[2])
    if unit in {"day", "week"}:
        days = count * (1 if unit == "day" else 7)
        return Period(max(today - timedelta(days=max(days - 1, 0)), _EARLIEST), today)
    months = today.year * 12 + today.month - 1 - count * (1 if unit == "month" else 12)
    year, month = months // 12, months % 12 + 1
    return Period(date(year, month, min(today.day, monthrange(year, month)[1])), today)


def _ago(match: re.Match[str], today: date) -> Period:
    """The day so many days ago; the whole week or month so many before this one."""
    return _whole(_unit(match[2]), _number(match[1]), today)


def _weekday(number: int, back: int | None, today: date) -> Period:
    """A day of the week so many weeks back; None: the latest one before today or today."""
    day = today - timedelta(days=today.weekday() - number + 7 * (back or 0))
    day = day - timedelta(days=7) if back is None and day > today else day
    return Period(day, day)


def _english_day(match: re.Match[str], today: date) -> Period:
    number = next(at for at, name in enumerate(_WEEKDAYS) if name.startswith(match[2][:3]))
    if match[1] == "last":  # the latest one before today
        return _weekday(number, 1 if number >= today.weekday() else 0, today)
    return _weekday(number, 0 if match[1] == "this" else None, today)


def _chinese_day(match: re.Match[str], today: date) -> Period:
    number = _HAN_DAYS.index("日" if match[2] == "天" else match[2])
    return _weekday(number, {"": None, "这": 0, "本": 0, "上": 1, "上上": 2}[match[1] or ""], today)


def _weekend(match: re.Match[str], today: date) -> Period:
    is_last = match[0].startswith(("last", "上"))
    week = _whole("week", 1 if is_last else 0, today)
    return Period(week.last - timedelta(days=1), week.last)


def _near_day(match: re.Match[str], today: date) -> Period:
    return _whole("day", next(back for back, words in _NEAR_DAYS if re.fullmatch(words, match[0])), today)


def _month(match: re.Match[str], today: date) -> Period:
    """The latest month of this name that has begun."""
    month = MONTHS.index(match[1]) + 1
    return Period(*span(today.year - (month > today.month), month, 0))


def _year(match: re.Match[str], _: date) -> Period:
    year = int(next(filter(None, match.groups())))
    return Period(date(year, 1, 1), date(year, 12, 31))


_BACK = {"this": 0, "last": 1, "previous": 1, "past": 1, "本": 0, "这": 0, "这个": 0, "今": 0}
_BACK |= {"上": 1, "上个": 1, "去": 1, "上上": 2, "上上个": 2, "前": 2}


def _named(match: re.Match[str], today: date) -> Period:
    return _whole(_unit(match[2]), _BACK[match[1]], today)


_NEAR_DAYS = (
    (0, "today|tonight|this (?:morning|afternoon|evening)|今[天日早晚]"),
    (1, "yesterday|last night|昨[天日晚]"),
    (2, "(?:the )?day before yesterday|前[天日]"),
    (3, "大前天"),
)
_Build = Callable[[re.Match[str], date], Period]
_FORMS: tuple[tuple[re.Pattern[str], _Build], ...] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        ("|".join(words for _, words in _NEAR_DAYS), _near_day),
        (r"(?:the )?(this|last|previous|past) (week|month|year)", _named),
        (r"(上上个?|上个?|本|这个?)(周|星期|礼拜|月)", _named),
        (r"(今|去|前)(年)", _named),
        (r"(?:the )?(?:week|month) before last()", lambda match, day: _whole(match[0].split()[-3], 2, day)),
        (rf"(?:in )?(?:the )?(?:last|past|previous) {_COUNT} (days?|weeks?|months?|years?)", _past),
        (rf"(?:最近|过去|近|这)(?:的)?{_COUNT}(个?(?:{_UNITS}))", _past),
        (rf"{_COUNT} (days?|weeks?|months?|years?) ago", _ago),
        (rf"{_COUNT}(个?(?:{_UNITS}))[以之]?前", _ago),
        (rf"(?:on )?(?:(last|this) )?{_WEEKDAY}", _english_day),
        (rf"(上上|上|这|本)?个?{_HAN_WEEK}([一二三四五六日天])", _chinese_day),
        (r"(?:last|this|the) weekend|[上这本]个?周末|周末", _weekend),
        (r"((?:19|20)[0-9]{2})年?", _year),
    )
)
_BY_NAME: tuple[tuple[str, _Build], ...] = (
    (r"(?:in |during |of )?(january|february|april|june|july|august|september|october|november|december)", _month),
    (r"(?:in|during|since) ((?:19|20)[0-9]{2})|((?:19|20)[0-9]{2})年(?! ?[0-9])", _year),
)
"""Only in a sentence: there "may" and "march" are other words, and a bare number is seldom a year."""
_PAST = (_month, _year)
_LOOKS_BACK = re.compile(r"last|previous|past|ago|yesterday|before|上|去|前|昨|最近|过去|近")
_AHEAD = "".join(
    f"(?<!{words})" for words in ("next ", "coming ", "every ", "by ", "until ", "(?<!一)下", "下个", "每", "每个")
)
_NO_DATE = r"(?!,? ?[0-9])"


@cache
def _searched() -> tuple[tuple[re.Pattern[str], _Build], ...]:
    """The forms as they are looked for in a sentence: whole words, and no day that is ahead."""
    forms = [(form.pattern.replace(_WEEKDAY, _FULL_WEEKDAY), build) for form, build in _FORMS if build is not _year]
    alone = [(f"(?<![0-9] )(?:{each}){_NO_DATE}", build) for each, build in _BY_NAME]
    whole = rf"(?<![a-z0-9_-]){_AHEAD}(?:{{}})(?![a-z0-9_-])"
    return tuple((re.compile(whole.format(each)), build) for each, build in (*forms, *alone))
