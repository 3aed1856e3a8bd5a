"""How the words of days are taken: the next ones that they may mean."""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from agent.times.feasts import feast_day, lunar_day
from agent.times.units import WORKDAYS, NoSuchTime, OneDay, Unit
from agent.times.words import Taker, Words, add_months, day_of, month_at


def _near_day(words: Words) -> Unit:
    if words.raw("near_part"):
        return _on(words.today + timedelta(days=int(str(words.word("near_part")).split()[0])))
    return _on(words.today + timedelta(days=words.number("near")))


def _on(*days: date) -> OneDay:
    return OneDay(days)


def _weekday(words: Words) -> Unit:
    """A named day of the week; of one without `week`, or of this week and over, the next one."""
    number, week = words.number("day"), words.number("week")
    monday = words.today - timedelta(days=words.today.weekday())
    if week:
        return OneDay((monday + timedelta(days=number + 7 * week),), weekday=number)
    day = words.today + timedelta(days=(number - words.today.weekday()) % 7)
    return OneDay((day, day + timedelta(days=7)), weekday=number)


def _coming(month: int, number: int, today: date) -> Iterator[date]:
    """The next days of this month and number, where the calendar has it."""
    if not 1 <= month <= 12 or not 1 <= number <= monthrange(2000, month)[1]:
        raise NoSuchTime
    for year in range(today.year, today.year + 5):
        if number <= monthrange(year, month)[1] and date(year, month, number) >= today:
            yield date(year, month, number)


def _date(words: Words) -> Unit:
    month, number, year = words.number("month"), words.number("day"), words.number("year")
    if words.raw("year_ahead"):
        year = words.today.year + words.number("year_ahead")
    if year:
        return OneDay((day_of(year, month, number),), of_year=(month, number))
    return OneDay(tuple(_coming(month, number, words.today))[:2], of_year=(month, number))


def _slashed(words: Words) -> Unit:
    """`12/24`: month and day where only that is a day, where the year stands first, or in Chinese; else either."""
    one, two, year = words.number("one"), words.number("two"), words.number("year")
    is_year_first = bool(year) and words.match[0].lstrip("on ").startswith(str(year))

    def days(month: int, number: int) -> tuple[date, ...]:
        try:
            return (day_of(year, month, number),) if year else tuple(_coming(month, number, words.today))[:2]
        except NoSuchTime:
            return ()

    american = days(one, two)
    european = () if words.is_han or is_year_first or one == two else days(two, one)
    if not (american or european):
        raise NoSuchTime
    of_year = (one, two) if american else (two, one)
    return OneDay(american or european, european if american else (), of_year=of_year)


def _month_day(words: Words) -> Unit:
    """A day by its number alone, or of this or the next month."""
    number = words.number("day")
    if number != -1 and not 1 <= number <= 31:
        raise NoSuchTime
    if words.raw("ahead"):
        first = month_at(words)
        last = monthrange(first.year, first.month)[1]
        return OneDay((day_of(first.year, first.month, last if number == -1 else number),), month_day=number)
    firsts = (add_months(words.today.replace(day=1), ahead) for ahead in range(4))
    days = [each.replace(day=number) for each in firsts if number <= monthrange(each.year, each.month)[1]]
    return OneDay(tuple(each for each in days if each >= words.today), month_day=number)


def _month_ends(words: Words) -> Unit:
    """The last day of this month, or of the one that is named."""
    first = month_at(words)
    last = first.replace(day=monthrange(first.year, first.month)[1])
    return OneDay((last,), month_day=-1)


def _month_starts(words: Words) -> Unit:
    first = month_at(words) if words.raw("ahead") else add_months(words.today.replace(day=1), 1)
    return OneDay((first,), month_day=1)


def _year_ends(words: Words) -> Unit:
    return OneDay((date(words.today.year, 12, 31),), of_year=(12, 31))


def _days_of_month(first: date) -> list[date]:
    return [first.replace(day=number + 1) for number in range(monthrange(first.year, first.month)[1])]


def _nth_of(words: Words, wanted: tuple[int, ...]) -> OneDay:
    days = [each for each in _days_of_month(month_at(words)) if each.weekday() in wanted]
    nth = words.number("nth")
    if nth != -1 and not 1 <= nth <= len(days):
        raise NoSuchTime
    return _on(days[nth - 1 if nth > 0 else -1])


def _workday_of(words: Words) -> Unit:
    return _nth_of(words, WORKDAYS)


def _weekday_of(words: Words) -> Unit:
    return _nth_of(words, (words.number("day"),))


def _next_unit(words: Words) -> Unit:
    """The first day of the next week; a month or a year has no day that is usually meant, so it is asked for."""
    unit, count = str(words.word("which")).rstrip("0123456789"), int(str(words.word("which"))[-1])
    today = words.today
    if unit == "w":
        return _on(today - timedelta(days=today.weekday()) + timedelta(days=7 * count))
    if unit == "mo":
        first = add_months(today.replace(day=1), count)
        raise NoSuchTime(f"{first} 09:00", f"{add_months(today, count)} 09:00")
    raise NoSuchTime(f"{today.year + count}-01-01 09:00", f"{add_months(today, 12 * count)} 09:00")


def _weekend_day(words: Words) -> Unit:
    monday = words.today - timedelta(days=words.today.weekday())
    saturday = monday + timedelta(days=5 + 7 * words.number("week"))
    return _on(*(each for each in (saturday, saturday + timedelta(days=1)) if each >= words.today))


def _feast(words: Words) -> Unit:
    rule = str(words.word("feast"))
    days = [feast_day(rule, words.today.year + ahead) for ahead in (-1, 0, 1, 2)]
    fixed = re.fullmatch(r"(\d\d)-(\d\d)", rule)
    of_year = (int(fixed[1]), int(fixed[2])) if fixed else None
    return OneDay(tuple(each for each in days if each >= words.today)[:2], of_year=of_year)


def _lunar(words: Words) -> Unit:
    month, number = words.number("month"), words.number("day")
    found: list[date] = []
    for ahead in (-1, 0, 1, 2):
        try:
            found.append(lunar_day(words.today.year + ahead, month, number))
        except ValueError:
            continue
    if not found:
        raise NoSuchTime
    return OneDay(tuple(each for each in found if each >= words.today)[:2])


DAYS: Mapping[str, Taker] = {
    "near_day": _near_day,
    "weekday": _weekday,
    "date": _date,
    "slashed": _slashed,
    "month_day": _month_day,
    "month_ends": _month_ends,
    "month_starts": _month_starts,
    "year_ends": _year_ends,
    "workday_of": _workday_of,
    "weekday_of": _weekday_of,
    "next_unit": _next_unit,
    "weekend_day": _weekend_day,
    "feast": _feast,
    "lunar": _lunar,
}
