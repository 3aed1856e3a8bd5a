"""What comes again and again, as it is stored: cron where cron can say it, else an RRULE (RFC 5545) with its start.

A rule has its start in it (`DTSTART:20261201T090000 RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU`), local and without a zone.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import groupby

from agent.dataclass import dataclass
from agent.times.rule import DAYS, rule_times
from agent.times.units import WORKDAYS, Repeat

_SHORT = 29
"""The first day of the month that some months do not have."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Each of the expressions starts it; `is_moved`: where a month has no such day, its last one is taken."""

    crons: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    is_moved: bool = False


def recurrence_of(repeat: Repeat, times: Sequence[time], now: datetime) -> Recurrence:
    """The recurrence at these times of day, as said at `now` (local, without an offset)."""
    by_minute = [
        (minute, sorted({each.hour for each in same}))
        for minute, same in groupby(sorted(times, key=lambda each: each.minute), key=lambda each: each.minute)
    ]
    days = repeat.month_days or ((now.day,) if repeat.each == "month" and not repeat.nth else ())
    is_moved = any(day >= _SHORT for day in days) and not repeat.months
    fields = _cron_fields(repeat)
    if fields:
        crons = tuple(f"{minute} {','.join(map(str, hours))} {fields}" for minute, hours in by_minute)
        return Recurrence(crons, is_moved=is_moved)
    parts = _rule_parts(repeat, now)
    found: list[str] = []
    for part, (minute, of_day) in ((part, each) for part in parts for each in by_minute):
        clock = f"BYHOUR={','.join(map(str, of_day))};BYMINUTE={minute}"
        start = datetime.combine(_first_day(part, repeat, max(times), now), time(of_day[0], minute))
        found.append(f"DTSTART:{start:%Y%m%dT%H%M%S} RRULE:{part};{clock};BYSECOND=0")
    return Recurrence(rules=tuple(found), is_moved=is_moved)


def _cron_fields(repeat: Repeat) -> str:
    """Day, month and day of the week of a cron expression; empty if cron cannot say it."""
    if repeat.interval > 1:
        return ""
    match repeat.each:
        case "day":
            return "* * *"
        case "week":
            days = "1-5" if repeat.weekdays == WORKDAYS else ",".join(str((day + 1) % 7) for day in repeat.weekdays)
            return f"* * {days}" if days else ""
        case "month" if repeat.nth:
            return _cron_of_nth(repeat)
        case "month" if repeat.month_days:
            days = ",".join("L" if day in (-1, 31) else str(day) for day in dict.fromkeys(repeat.month_days))
            months = ",".join(map(str, repeat.months)) or "*"
            is_short = any(_SHORT <= day < 31 for day in repeat.month_days) and not repeat.months
            return "" if is_short else f"{days} {months} *"
        case _:
            return ""


def _cron_of_nth(repeat: Repeat) -> str:
    if repeat.is_set:
        return "LW * *" if repeat.nth == -1 else ""
    (day,) = repeat.weekdays
    number = (day + 1) % 7
    return f"* * {number}L" if repeat.nth == -1 else f"* * {number}#{repeat.nth}"


def _rule_parts(repeat: Repeat, now: datetime) -> Iterator[str]:
    """The parts of the rules, without their times of day."""
    each = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY"}[repeat.each]
    first = f"FREQ={each}" + (f";INTERVAL={repeat.interval}" if repeat.interval > 1 else "")
    days = ",".join(DAYS[day] for day in repeat.weekdays)
    if repeat.nth:
        yield f"{first};BYDAY={days};BYSETPOS={repeat.nth}"
    elif repeat.each == "week":
        yield f"{first};BYDAY={days or DAYS[now.weekday()]}"
    elif repeat.each == "month":
        for day in repeat.month_days or (now.day,):
            if day >= _SHORT:
                yield f"{first};BYMONTHDAY={','.join(map(str, range(28, day + 1)))};BYSETPOS=-1"
            else:
                yield f"{first};BYMONTHDAY={day}"
    else:
        yield first


def _first_day(part: str, repeat: Repeat, last: time, now: datetime) -> date:
    """The day on which a rule begins to count: the next one that is named, if its last time of day is still to come;
    where none is named, one interval after today."""
    today = now.date()
    if not (repeat.weekdays or repeat.month_days):
        return _after(repeat, today)
    plain = "RRULE:" + part.replace(f";INTERVAL={repeat.interval}", "")
    days = rule_times(plain, datetime.combine(today, time()), datetime.combine(today, time()))
    return next(day.date() for day in days if datetime.combine(day.date(), last) > now)


def _after(repeat: Repeat, today: date) -> date:
    """Today, one interval later; in a month that is too short, a day that it has."""
    match repeat.each:
        case "day":
            return today + timedelta(days=repeat.interval)
        case "week":
            return today + timedelta(weeks=repeat.interval)
        case "month":
            total = today.year * 12 + today.month - 1 + repeat.interval
            return date(total // 12, total % 12 + 1, min(today.day, 28))
        case "year":
            is_leap_day = (today.month, today.day) == (2, 29)
            return date(today.year + repeat.interval, today.month, 28 if is_leap_day else today.day)
