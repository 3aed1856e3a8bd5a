"""A stretch of days in plain words, English and Chinese: `last week`, `past 3 days`, `上周`, `2026-11`, `since Monday`.

Looks back from today. `parse_period` reads a text that names a period and nothing else, `find_periods` those that a
sentence names. Weeks begin on Monday.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from functools import cache

from agent.dataclass import dataclass
from agent.times.language import Language, WordForm, languages
from agent.times.named_days import parse_days, span
from agent.times.plain import plain_text, same_width
from agent.times.units import UNIT_DAYS, UNIT_MONTHS, NoSuchTime
from agent.times.words import Words, add_months

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
    plain = plain_text(" ".join(text.split()).strip(" .,。，")).text.casefold()
    if not plain or len(plain) > _LONGEST:
        return None
    try:
        found = _between(plain, today) or _single(plain, today)
    except (ValueError, OverflowError, NoSuchTime):  # a day that the calendar does not have
        return None
    if found is None or found.first > today or found.first > found.last:
        return None
    return Period(found.first, min(found.last, today))


def find_periods(text: str, today: date) -> tuple[NamedPeriod, ...]:
    """The periods that the words of a text name by their distance from today, by a day of the week, or by the name of a
    month or a year alone, in their order; none of them begins after `today`."""
    plain = same_width(text)
    low = plain.lower() if len(plain.lower()) == len(text) else plain
    found: list[NamedPeriod] = []
    for language, form, pattern in _searched():
        for match in pattern.finditer(low):
            try:
                named = _BUILDERS[form.rule](Words(match, form.kinds, language, today, is_han=False))
            except (ValueError, OverflowError, NoSuchTime):
                continue
            if named.first <= today:
                is_over = form.rule in _PAST or _looks_back(match[0])
                found.append(NamedPeriod(named.first, min(named.last, today), *match.span(), is_over))
    chosen: list[NamedPeriod] = []
    for each in sorted(found, key=lambda each: each.begin - each.end):  # of "last Monday" and "Monday" the longer
        if all(each.end <= other.begin or other.end <= each.begin for other in chosen):
            chosen.append(each)
    return tuple(sorted(chosen, key=lambda each: each.begin))


def _between(text: str, today: date) -> Period | None:
    for language in languages():
        if match := language.line("between").fullmatch(text):
            first, last = _single(match[1].strip(), today), _single(match[2].strip(), today)
            if first and last:
                return Period(first.first, last.last)
    for language in languages():
        if match := language.line("since").fullmatch(text):
            first = _single(next(filter(None, match.groups())).strip(), today)
            if first:
                return Period(first.first, today)
    return None


def _single(text: str, today: date) -> Period | None:
    for language in languages():
        for form in language.compiled("back"):
            if form.sign != "~" and (match := form.pattern.fullmatch(text)):
                return _BUILDERS[form.rule](Words(match, form.kinds, language, today, is_han=False))
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


def _whole(unit: str, back: int, today: date) -> Period:
    """The day, week, month or year so many before the present one."""
    match unit:
        case "d" | "f":
            day = today - timedelta(days=back * (14 if unit == "f" else 1))
            return Period(day, day)
        case "w":
            monday = today - timedelta(days=today.weekday() + 7 * back)
            return Period(monday, monday + timedelta(days=6))
        case "mo" | "q":
            size = 3 if unit == "q" else 1
            months = (today.year * 12 + today.month - 1) // size * size - back * size
            first, _ = span(months // 12, months % 12 + 1, 0)
            last = months + size - 1
            return Period(first, span(last // 12, last % 12 + 1, 0)[1])
        case "y":
            return Period(date(today.year - back, 1, 1), date(today.year - back, 12, 31))
        case _:
            raise NoSuchTime


def _past(words: Words) -> Period:
    """So many days, weeks, months or years up to today."""
    count, unit, today = words.number("n"), words.unit, words.today
    if unit in UNIT_DAYS:
        return Period(max(today - timedelta(days=max(count * UNIT_DAYS[unit] - 1, 0)), _EARLIEST), today)
    if unit not in UNIT_MONTHS:
        raise NoSuchTime
    return Period(add_months(today, -count * UNIT_MONTHS[unit]), today)


def _ago(words: Words) -> Period:
    """The day so many days ago; the whole week or month so many before this one."""
    return _whole(words.unit, words.number("n"), words.today)


def _named(words: Words) -> Period:
    unit = words.unit or "y"
    return _whole(unit, words.number("which"), words.today)


def _weekday(number: int, back: int | None, today: date) -> Period:
    """A day of the week so many weeks back; None: the latest one before today or today."""
    day = today - timedelta(days=today.weekday() - number + 7 * (back or 0))
    day = day - timedelta(days=7) if back is None and day > today else day
    return Period(day, day)


def _last_weekday(words: Words) -> Period:
    """A day of the week: that of this week, the latest one before today, or with neither word the latest one."""
    number, week = words.number("day"), words.word("week")
    if week == 1:
        return _weekday(number, 1 if number >= words.today.weekday() else 0, words.today)
    return _weekday(number, 0 if week == 0 else None, words.today)


def _weekday_of(words: Words) -> Period:
    """A day of the week so many weeks back."""
    week = words.word("week")
    return _weekday(words.number("day"), None if week is None else int(week), words.today)


def _weekend(words: Words) -> Period:
    week = _whole("w", words.number("which"), words.today)
    return Period(week.last - timedelta(days=1), week.last)


def _near_day(words: Words) -> Period:
    return _whole("d", words.number("near"), words.today)


def _month(words: Words) -> Period:
    """The latest month of this name that has begun."""
    month, today = words.number("month"), words.today
    return Period(*span(today.year - (month > today.month), month, 0))


def _year(words: Words) -> Period:
    year = words.number("year")
    return Period(date(year, 1, 1), date(year, 12, 31))


_BUILDERS: Mapping[str, Callable[[Words], Period]] = {
    "near_day": _near_day,
    "named": _named,
    "before_last": lambda words: _whole(words.unit, 2, words.today),
    "past": _past,
    "ago": _ago,
    "weekday": _last_weekday,
    "weekday_of": _weekday_of,
    "weekend": _weekend,
    "month": _month,
    "year": _year,
}
"""For the `rule` of each form: what its words name."""
_PAST = frozenset({"month", "year"})


def _looks_back(text: str) -> bool:
    return any(each.line("looks_back").search(text) is not None for each in languages())


@cache
def _searched() -> tuple[tuple[Language, WordForm, re.Pattern[str]], ...]:
    """The forms as they are looked for in a sentence: whole words, and no day that is ahead."""
    return tuple(_forms_in_text())


def _forms_in_text() -> Iterator[tuple[Language, WordForm, re.Pattern[str]]]:
    ahead = "".join(each.lines.get("not_behind", "") for each in languages())
    for language in languages():
        for form in language.compiled("back"):
            if form.sign != "=":
                whole = rf"(?<![a-z0-9_-]){ahead}(?:{form.pattern.pattern})(?![a-z0-9_-])"
                yield language, form, re.compile(whole)
