"""Units of a time put together: a day and its time of day, what comes again and again, or a while from now."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TypeVar

from agent.times.reading import Understood
from agent.times.recurrence import recurrence_of
from agent.times.units import (
    HOURS_A_DAY,
    USUAL,
    USUAL_HOURS,
    ClockTime,
    Deadline,
    Except,
    Interval,
    InZone,
    Later,
    NoSuchTime,
    OneDay,
    PartOfDay,
    Repeat,
    TimesADay,
    Unit,
    hour_of,
)
from agent.times.words import moved

_EARLY = range(1, 6)
"""Hours that are rarely meant to be in the night: "tomorrow at 3"."""
_SHORTEST = 60
"""Seconds."""
_HALF_DAY = 12
T = TypeVar("T")


def composed(units: Sequence[Unit], now: datetime) -> Understood:
    """The time of some units at `now` (aware, in the zone that they name); raises `NoSuchTime`."""
    zone = _one(units, InZone)
    found = _composed([each for each in units if not isinstance(each, InZone)], now)
    return replace(found, zone=zone.name) if zone else found


def _composed(units: Sequence[Unit], now: datetime) -> Understood:
    local = now.replace(tzinfo=None, microsecond=0)
    clocks = [each for each in units if isinstance(each, ClockTime)]
    later, interval, repeat, on = _one(units, Later), _one(units, Interval), _one(units, Repeat), _day(units)
    is_deadline = _one(units, Deadline) is not None
    if interval is not None:
        if len(units) > 1 or interval.seconds < _SHORTEST:
            raise NoSuchTime
        return Understood(every=interval.seconds)
    if later is not None:
        return _after(later, units, clocks, now)
    count = _one(units, TimesADay)
    if repeat is not None or count is not None:
        if is_deadline or (repeat is not None and count is not None):
            raise NoSuchTime
        times, taken = _times(clocks, _one(units, PartOfDay), count)
        return _again(repeat or Repeat("day"), on, _one(units, Except), times, taken, local)
    if _one(units, Except) is not None:
        raise NoSuchTime
    return _once(on, clocks, _one(units, PartOfDay), is_deadline, local)


def _one(units: Sequence[Unit], kind: type[T]) -> T | None:
    """The only unit of a kind, or None; raises `NoSuchTime` for two."""
    found = [each for each in units if isinstance(each, kind)]
    if len(found) > 1:
        raise NoSuchTime
    return found[0] if found else None


def _day(units: Sequence[Unit]) -> OneDay | None:
    """The only day, or None; a date with its day of the week is one, if they agree."""
    days = [each for each in units if isinstance(each, OneDay)]
    if len(days) != 2:
        return _one(units, OneDay)
    named, dated = sorted(days, key=lambda each: each.weekday is None)
    both = tuple(each for each in dated.days if each.weekday() == named.weekday)
    if named.weekday is None or dated.weekday is not None or dated.others or not both:
        raise NoSuchTime
    return replace(dated, days=both)


def _after(later: Later, units: Sequence[Unit], clocks: Sequence[ClockTime], now: datetime) -> Understood:
    """So long from now: to the second, or at the time of day that is named."""
    if later.seconds and len(units) > 1:
        raise NoSuchTime
    if later.seconds:
        exact = now.replace(microsecond=0)
        return Understood(moments=(exact + timedelta(days=later.days, seconds=later.seconds),))
    local = now.replace(tzinfo=None, microsecond=0)
    day = moved(local.date(), later)
    if len(units) == 1:
        moment = datetime.combine(day, local.time())
        if moment <= local:
            raise NoSuchTime
        return Understood(moments=(moment,))
    if any(not isinstance(each, Later | ClockTime | PartOfDay) for each in units):
        raise NoSuchTime
    return _once(OneDay((day,)), clocks, _one(units, PartOfDay), False, local)


def _times(
    clocks: Sequence[ClockTime], part: PartOfDay | None, count: TimesADay | None = None
) -> tuple[tuple[time, ...], bool]:
    """The times of day, in order, and whether they were taken, as none is named."""
    if clocks:
        if count is not None and count.count != len(clocks):
            raise NoSuchTime
        parts = part.parts if part else ()
        if len(parts) > 1:
            raise NoSuchTime
        of_day = parts[0] if parts else ""
        if len(clocks) == 1 and clocks[0].part not in ("", of_day or clocks[0].part):
            raise NoSuchTime
        found = {time(hour_of(each, each.part or of_day), each.minute) for each in clocks}
        if len(found) < len(clocks):
            raise NoSuchTime
        return tuple(sorted(found)), False
    if count is not None:
        if count.count not in HOURS_A_DAY:
            raise NoSuchTime
        return tuple(time(hour) for hour in HOURS_A_DAY[count.count]), True
    hours = {USUAL_HOURS[each] for each in part.parts if each in USUAL_HOURS} if part else {USUAL}
    if not hours:
        raise NoSuchTime
    return tuple(time(hour) for hour in sorted(hours)), True


def _again(
    repeat: Repeat, on: OneDay | None, excepted: Except | None, times: Sequence[time], taken: bool, now: datetime
) -> Understood:
    repeat = _without(_anchored(repeat, on, now.date()), excepted)
    found = recurrence_of(repeat, times, now)
    return Understood(
        crons=found.crons, rules=found.rules, taken=tuple(times) if taken else (), is_moved=found.is_moved
    )


def _anchored(repeat: Repeat, on: OneDay | None, today: date) -> Repeat:
    """The repetition on the day that is named beside it; of a week, month or year, else on that of today."""
    is_bare = not (repeat.weekdays or repeat.month_days)
    if on is not None and (not is_bare or on.others or not on.days):
        raise NoSuchTime
    if not is_bare:
        return repeat
    if on is not None:
        return _on_day(repeat, on)
    if repeat.interval > 1:
        return repeat
    match repeat.each:
        case "week":
            return replace(repeat, weekdays=(today.weekday(),))
        case "month":
            return replace(repeat, month_days=(today.day,))
        case "year":
            return replace(repeat, each="month", months=(today.month,), month_days=(today.day,))
        case "day":
            return repeat


def _on_day(repeat: Repeat, on: OneDay) -> Repeat:
    """The repetition on a day that is named as its unit wants it; raises `NoSuchTime` for any other."""
    if repeat.each == "week" and on.weekday is not None:
        return replace(repeat, weekdays=(on.weekday,))
    if repeat.each == "month" and on.month_day:
        return replace(repeat, month_days=(on.month_day,))
    if repeat.each == "year" and on.of_year is not None and repeat.interval == 1:
        month, day = on.of_year
        return replace(repeat, each="month", months=(month,), month_days=(day,))
    raise NoSuchTime(*(_format_moment(datetime.combine(each, time(USUAL))) for each in on.days[:1]))


def _without(repeat: Repeat, excepted: Except | None) -> Repeat:
    if excepted is None:
        return repeat
    days = repeat.weekdays or tuple(range(7))
    left = tuple(day for day in days if day not in excepted.weekdays)
    is_weekly = repeat.each == "week" or (repeat.each == "day" and repeat.interval == 1)
    if not is_weekly or not left or len(left) == len(days):
        raise NoSuchTime
    return replace(repeat, each="week", weekdays=left)


def _once(
    on: OneDay | None, clocks: Sequence[ClockTime], part: PartOfDay | None, is_deadline: bool, now: datetime
) -> Understood:
    if on is None:
        return _next(clocks, part, is_deadline, now)
    if on.others:
        times, _ = _times(clocks, part)
        either = [datetime.combine(days[0], times[0]) for days in (on.days, on.others) if days]
        raise NoSuchTime(*(_format_moment(each) for each in either if each > now))
    refuse_two_halves(on, clocks, part, now)
    times, is_taken = _times(clocks, part)
    if is_deadline:
        return _before(on, times, is_taken and part is None, now)
    for day in on.days:
        moments = tuple(moment for each in times if (moment := datetime.combine(day, each)) > now)
        if moments:
            return Understood(moments=moments, taken=times if is_taken else ())
    raise NoSuchTime(*_instead(on, times, now))


def refuse_two_halves(on: OneDay, clocks: Sequence[ClockTime], part: PartOfDay | None, now: datetime) -> None:
    """Raises `NoSuchTime` for an hour that may be of the night, or of the afternoon; `now` is local, without an
    offset."""
    for clock in clocks:
        if clock.hour not in _EARLY or clock.is_sure or part is not None:
            continue
        both = (time(clock.hour + add, clock.minute) for add in (_HALF_DAY, 0))
        ahead = [moment for each in both for day in on.days[:1] if (moment := datetime.combine(day, each)) > now]
        raise NoSuchTime(*map(_format_moment, ahead))


def _next(clocks: Sequence[ClockTime], part: PartOfDay | None, is_deadline: bool, now: datetime) -> Understood:
    """The next time of a day that is not named: it has to be one that can only be this."""
    days = OneDay((now.date(), now.date() + timedelta(days=1)))
    if is_deadline and clocks and all(each.is_sure for each in clocks):
        return _before(days, _times(clocks, part)[0], False, now)
    if is_deadline or not (clocks or part):
        raise NoSuchTime
    unsure = [each for each in clocks if not each.is_sure and part is None]
    if unsure:
        hour, minute = unsure[0].hour % _HALF_DAY, unsure[0].minute
        both = (datetime.combine(day, time(hour + add, minute)) for day in days.days for add in (0, _HALF_DAY))
        raise NoSuchTime(*[_format_moment(each) for each in both if each > now][:2])
    times, is_taken = _times(clocks, part)
    moments = [datetime.combine(now.date(), each) for each in times]
    if is_taken and any(each <= now for each in moments):
        raise NoSuchTime(*(_format_moment(each + timedelta(days=1)) for each in moments))
    ahead = tuple(each if each > now else each + timedelta(days=1) for each in moments)
    return Understood(moments=tuple(sorted(ahead)), taken=times if is_taken else ())


def _before(on: OneDay, times: Sequence[time], is_taken: bool, now: datetime) -> Understood:
    """A moment before a deadline: the morning of the day before, else of the day, else an hour before the time."""
    usual = time(USUAL)
    for day in on.days:
        end = datetime.combine(day, time(23, 59) if is_taken else times[0])
        if end <= now:
            continue
        mornings = [datetime.combine(day - timedelta(days=back), usual) for back in (1, 0)]
        for moment in (*mornings, end - timedelta(hours=1)):
            if now < moment < end:
                return Understood(moments=(moment,), taken=(moment.time(),), deadline=day)
    raise NoSuchTime(*_instead(on, times, now))


def _instead(on: OneDay, times: Sequence[time], now: datetime) -> tuple[str, ...]:
    """Times that may be meant by one that is over: this evening, or the same time tomorrow."""
    if not on.days or on.days[0] != now.date():
        return ()
    evening = datetime.combine(now.date(), time(USUAL_HOURS["evening"]))
    evening = evening if evening > now else now.replace(second=0) + timedelta(hours=1)
    return _format_moment(evening), _format_moment(datetime.combine(now.date() + timedelta(days=1), times[0]))


def _format_moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
