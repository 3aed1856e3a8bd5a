"""Days of months and RRULEs in words: `FREQ=WEEKLY;INTERVAL=2;BYDAY=TU` is "every 2 weeks on Tuesday"."""

import re
from collections.abc import Mapping, Sequence

from agent.texts import Language, text
from agent.times.rule import DAYS

_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_WORKDAYS = "MO,TU,WE,TH,FR"
_NTH = re.compile(r"-1|[1-9][0-9]?")
_KNOWN = {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYSETPOS", "BYHOUR", "BYMINUTE", "BYSECOND"}


def rule_words(rule: str, language: Language) -> str:
    """The words for an RRULE; empty for one of a form that the program does not make."""
    parts = dict(each.split("=", 1) for each in rule.rpartition("RRULE:")[2].split(";"))
    if not parts.keys() <= _KNOWN or "BYHOUR" not in parts or not parts.get("BYMINUTE", "").isdecimal():
        return ""
    if not _is_sayable(parts):
        return ""
    times = ", ".join(f"{int(hour):02}:{int(parts['BYMINUTE']):02}" for hour in parts["BYHOUR"].split(","))
    days = _days(parts, language)
    return text("times.at_times", language, days=days, times=times) if days else ""


def _is_sayable(parts: Mapping[str, str]) -> bool:
    """True if the words below say all that a rule says of days."""
    nth, numbers = parts.get("BYSETPOS", ""), parts.get("BYMONTHDAY", "")
    if numbers and ("BYDAY" in parts or not numbers.replace(",", "").isdecimal()):
        return False
    if not nth:
        return True
    is_last_day = nth == "-1" and numbers.startswith("28,")
    return parts["FREQ"] == "MONTHLY" and (is_last_day if numbers else _NTH.fullmatch(nth) is not None)


def _days(parts: Mapping[str, str], language: Language) -> str:
    count = int(parts.get("INTERVAL", "1"))
    often = text(f"times.every_{_UNITS[parts['FREQ']]}_{'one' if count == 1 else 'many'}", language, count=count)
    days, nth = parts.get("BYDAY", ""), int(parts.get("BYSETPOS", "0"))
    if numbers := parts.get("BYMONTHDAY"):
        if not nth:
            return text("times.on_day_of", language, often=often, day=numbers)
        last = numbers.rpartition(",")[2]
        if count == 1:
            return text("times.day_or_last_of_month", language, day=last)
        return text("times.on_day_or_last_of", language, often=often, day=last)
    if not days:
        return often
    if any(each not in DAYS for each in days.split(",")):
        return ""
    if nth:
        return _nth_workday(days, nth, language) if count == 1 else ""
    named = day_names([DAYS.index(each) for each in days.split(",")], language)
    return text("times.on_weekdays_of", language, often=often, days=named)


def _nth_workday(days: str, nth: int, language: Language) -> str:
    if days != _WORKDAYS:
        return ""
    if nth == -1:
        return text("times.last_workday_of_month", language)
    return text("times.nth_workday_of_month", language, nth=nth)


def days_in_month(day: str, month: str, language: Language) -> str:
    """The words for the fields day and month of a cron expression; empty for one of another form."""
    days = _days_of_month(day, language)
    if month == "*" or not days:
        return days
    numbers = month.split(",")
    if not all(each.isdecimal() and 1 <= int(each) <= 12 for each in numbers):
        return ""
    names = text("times.months", language).split()
    if day.isdecimal():
        dates = (text("times.day_in_month", language, day=int(day), month=names[int(each) - 1]) for each in numbers)
        return text("times.days_of_year", language, days=text("times.comma", language).join(dates))
    months = text("times.comma", language).join(names[int(each) - 1] for each in numbers)
    return text("times.in_months", language, days=days, months=months)


def _days_of_month(field: str, language: Language) -> str:
    match field:
        case "l":
            return text("times.last_day_of_month", language)
        case "lw":
            return text("times.last_workday_of_month", language)
        case _ if field.isdecimal():
            return text("times.day_of_month", language, day=int(field))
        case _ if all(each.isdecimal() for each in field.split(",")):
            listed = text("times.comma", language).join(str(int(each)) for each in field.split(","))
            return text("times.days_of_month", language, days=listed)
        case _:
            return ""


def format_days(days: Sequence[int], nth: int, language: Language) -> str:
    """The words for which of these days of the week in each month; -1 is the last."""
    named = day_names(days, language)
    if nth == -1:
        return text("times.last_named_day_of_month", language, days=named)
    return text("times.nth_day_of_month", language, nth=text("times.nths", language).split()[nth - 1], days=named)


def day_names(days: Sequence[int], language: Language) -> str:
    """The names of some days of the week, 0 is Monday."""
    names = text("times.weekdays", language).split()
    return text("times.comma", language).join(names[each] for each in days)
