"""How the words of what comes again and again are taken."""

import re
from collections.abc import Mapping

from agent.times.units import WEEKEND, WORKDAYS, Except, NoSuchTime, Repeat, TimesADay, Unit
from agent.times.words import Taker, Words


def _daily(words: Words) -> Unit:
    return Repeat("day", max(words.number("n", 1), 1))


def _workdays(_: Words) -> Unit:
    return Repeat("week", weekdays=WORKDAYS)


def _weekend(_: Words) -> Unit:
    return Repeat("week", weekdays=WEEKEND)


def _week_range(words: Words) -> Unit:
    first, last = words.number("first"), words.number("last")
    if last <= first:
        raise NoSuchTime
    return Repeat("week", weekdays=tuple(range(first, last + 1)))


def _weekly(words: Words) -> Unit:
    interval = words.number("n", 1) if words.raw("n") else words.number("biweek", 1)
    return Repeat("week", interval, words.weekdays())


def _month_days(words: Words) -> Unit:
    ordinals = {each: value for each, value in words.language.words.get("ordinal", {}).items() if each.isalpha()}
    names = "|".join(map(re.escape, sorted(ordinals, key=len, reverse=True))) or "(?!)"
    found = re.findall(rf"\d+|{names}|[零一二三四五六七八九十廿卅]+", words.raw("nums").lower())
    days = tuple(words.language.number(each) or 0 for each in found)
    if not days or any(day != -1 and not 1 <= day <= 31 for day in days):
        raise NoSuchTime
    return Repeat("month", month_days=tuple(int(day) for day in days))


def _month_end(_: Words) -> Unit:
    return Repeat("month", month_days=(-1,))


def _nth(words: Words, most: int) -> int:
    nth = words.number("nth")
    if nth == -1 or 1 <= nth <= most:
        return nth
    raise NoSuchTime


def _month_start(_: Words) -> Unit:
    return Repeat("month", month_days=(1,))


def _quarter_end(_: Words) -> Unit:
    return Repeat("month", month_days=(-1,), months=(3, 6, 9, 12))


def _month_weekday(words: Words) -> Unit:
    return Repeat("month", weekdays=words.weekdays(), nth=_nth(words, 5))


def _month_workday(words: Words) -> Unit:
    return Repeat("month", weekdays=WORKDAYS, nth=_nth(words, 20), is_set=True)


def _monthly(words: Words) -> Unit:
    return Repeat("month", max(words.number("n", 1), 1))


def _quarterly(_: Words) -> Unit:
    return Repeat("month", month_days=(1,), months=(1, 4, 7, 10))


def _times_a_day(words: Words) -> Unit:
    return TimesADay(words.number("n"))


def _except(words: Words) -> Unit:
    return Except(words.weekdays())


REPEATS: Mapping[str, Taker] = {
    "daily": _daily,
    "workdays": _workdays,
    "weekend": _weekend,
    "week_range": _week_range,
    "weekly": _weekly,
    "fortnightly": lambda _: Repeat("week", 2),
    "month_days": _month_days,
    "month_end": _month_end,
    "month_start": _month_start,
    "quarter_end": _quarter_end,
    "month_weekday": _month_weekday,
    "month_workday": _month_workday,
    "monthly": _monthly,
    "quarterly": _quarterly,
    "yearly": lambda _: Repeat("year"),
    "times_a_day": _times_a_day,
    "except": _except,
    "excepted": _except,
}
