"""The days of feasts in a year: fixed ones, those by the moon, by the sun, and by the day of the week."""

from datetime import date, timedelta


def feast_day(rule: str, year: int) -> date:
    """The day of a feast in a year: `12-24`, `thanksgiving`, `easter-2`, `term 清明`, or `lunar 1-1 -1`, the day before
    the first day of the first month of the Chinese year that begins in this year.

    Raises `ValueError` where the calendar has no such day."""
    kind, _, rest = rule.partition(" ")
    if kind == "lunar":
        day, _, shift = rest.partition(" ")
        month, number = map(int, day.split("-"))
        return lunar_day(year, month, number) + timedelta(days=int(shift or 0))
    if kind == "term":
        return _solar_term(year, rest)
    if kind == "thanksgiving":
        first = date(year, 11, 1)
        return first + timedelta(days=(3 - first.weekday()) % 7 + 21)
    if kind.startswith("easter"):
        from dateutil.easter import easter

        sunday: date = easter(year)
        return sunday + timedelta(days=int(kind.removeprefix("easter") or 0))
    month, number = map(int, kind.split("-"))
    return date(year, month, number)


def lunar_day(year: int, month: int, day: int) -> date:
    """The day of the Chinese calendar's year that begins in `year`; raises `ValueError`."""
    from lunar_python import Lunar

    try:
        found = Lunar.fromYmd(year, month, day).getSolar()
    except Exception as error:
        raise ValueError(f"no day {month}-{day} in the Chinese year {year}") from error
    return date(found.getYear(), found.getMonth(), found.getDay())


def _solar_term(year: int, name: str) -> date:
    from lunar_python import Lunar

    found = Lunar.fromYmd(year, 6, 1).getJieQiTable()[name]
    return date(found.getYear(), found.getMonth(), found.getDay())
