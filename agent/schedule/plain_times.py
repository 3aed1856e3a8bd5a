"""Times in plain words, English and Chinese, without a model: `every weekday at 9 brief me`, `每个工作日九点给我简报`.

The words of time stand before or after the task, or the day before and the time of day after it. A text that may mean
two things, or more than is understood here, is refused: `parse_plain` returns None, and the person says it otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from agent.dataclass import dataclass
from agent.markdown.yaml_write import Value
from agent.schedule import plain_chinese, plain_english
from agent.schedule.occurrences import zone_of
from agent.schedule.plain_units import (
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
    hour_of,
)
from agent.schedule.triggers import SHORTEST

_USUAL_HOURS: Mapping[PartOfDay, int] = {
    **dict.fromkeys(("", "am", "morning"), 9),
    "noon": 12,
    **dict.fromkeys(("pm", "afternoon"), 15),
    "evening": 19,
    "night": 21,
    "night_start": 1,
}
LONGEST = 2_000
"""The most characters of a text."""
_WORDS = (*plain_english.ENGLISH, *plain_chinese.CHINESE)
_EARLY = range(1, 6)
_GAP = " \t\n,.:;，。：；、"
_WIDE = str.maketrans("０１２３４５６７８９：", "0123456789:")


@dataclass(frozen=True, slots=True)
class PlainJob:
    """The fields of a job's header (`on`, and `timezone` if one was said) and its task; without one it only wakes.
    `is_hour_given`: the sentence names the time of day."""

    header: Mapping[str, Value]
    task: str
    is_hour_given: bool = True


def parse_plain(text: str, now: datetime, *, needs_hour: bool = True) -> PlainJob | None:
    """The job that a sentence asks for at `now` (aware, local); None if its time is not clear.

    Without `needs_hour`, a day that is named without a time of day has the usual hour of its part, nine in the morning
    if no part is named."""
    text = text.strip().translate(_WIDE)
    if not text or len(text) > LONGEST:
        return None
    for lead, between in ((plain_english.LEAD, " "), (plain_chinese.LEAD, "")):
        if match := lead.fullmatch(text):
            found = _parsed(match[2].strip(), now, needs_hour)
            return replace(found, task=f"{match[1]}{between}{found.task}") if found else None
    return _parsed(text, now, needs_hour)


def _parsed(text: str, now: datetime, needs_hour: bool) -> PlainJob | None:
    try:
        units, rest = _take_units(text)
        hour = None if needs_hour else _usual_hour(units)
        units += [hour] if hour else []
        on = _trigger(units, rest, now)
    except (Unclear, ValueError, OverflowError):
        return None
    if on is None or plain_english.LEFT_OVER.search(rest) or plain_chinese.LEFT_OVER.search(rest):
        return None
    zone = next((each.name for each in units if isinstance(each, InZone)), "")
    return PlainJob({"on": on, **({"timezone": zone} if zone else {})}, rest, hour is None)


def _usual_hour(units: Sequence[Unit]) -> ClockTime | None:
    """The time of day of a day that is named without one; None if there is no such day, or a time of day."""
    if any(isinstance(each, ClockTime | Interval | Later) for each in units):
        return None
    days = [each for each in units if isinstance(each, Day | Days | MonthDay | CalendarDay)]
    part: PartOfDay = next((each.part for each in days if isinstance(each, Day | Days)), "")
    return ClockTime(_USUAL_HOURS[part], part=part, is_sure=True) if days else None


def _take_units(text: str) -> tuple[list[Unit], str]:
    """The units at the beginning, and at the end if those at the beginning are not all; then the rest of the text."""
    units: list[Unit] = []
    while (found := _first(text)) is not None:
        units.append(found[0])
        text = found[1].strip(_GAP)
    while not _is_whole(units) and (found := _last(text)) is not None:
        if any(type(found[0]) is type(each) for each in units):
            raise Unclear
        units.append(found[0])
        text = found[1].strip(_GAP)
    kinds = [type(each) for each in units]
    if len(set(kinds)) < len(kinds):
        raise Unclear
    return units, text.strip(_GAP)


def _is_whole(units: list[Unit]) -> bool:
    kinds = {type(each) for each in units}
    return bool(kinds & {Interval, Later}) or (ClockTime in kinds and bool(kinds & {Days, MonthDay, Day, CalendarDay}))


def _first(text: str) -> tuple[Unit, str] | None:
    """The longest unit at the beginning of a text, and what follows it."""
    matches = [(each, match) for each in _WORDS if (match := each.at_start.match(text))]
    for words, match in sorted(matches, key=lambda each: -each[1].end()):
        unit = words.build(match)
        if unit is not None:
            return unit, text[match.end() :]
    return None


def _last(text: str) -> tuple[Unit, str] | None:
    """The longest unit at the end of a text, and what is before it."""
    matches = [(each, match) for each in _WORDS if (match := each.at_end.search(text))]
    for words, match in sorted(matches, key=lambda each: each[1].start()):
        unit = words.build(match)
        if unit is not None:
            return unit, text[: match.start()]
    return None


def _trigger(units: list[Unit], rest: str, now: datetime) -> Value:
    """The header's `on` that the units come to; None if they are not a whole time."""
    zone = next((each.name for each in units if isinstance(each, InZone)), "")
    local = now.astimezone(zone_of(zone)) if zone else now
    times = [each for each in units if not isinstance(each, InZone)]
    match sorted(times, key=lambda each: isinstance(each, ClockTime)):
        case [Interval(seconds)]:
            return {"every": _duration(seconds)} if seconds >= SHORTEST else None
        case [Later(seconds)] if seconds:
            return {"at": now.replace(microsecond=0) + timedelta(seconds=seconds)}
        case [ClockTime() as clock] if clock.is_sure and not _has_day(rest):
            at = datetime.combine(local.date(), time(hour_of(clock, clock.part), clock.minute))
            return {"at": at if at > local.replace(tzinfo=None) else at + timedelta(days=1)}
        case [Days() as days, ClockTime() as clock]:
            part = _one_part(days.part, clock.part)
            day = "*/2" if days.every_other else "*"
            return {"cron": f"{clock.minute} {hour_of(clock, part)} {day} * {days.week}"}
        case [MonthDay(day), ClockTime() as clock]:
            return {"cron": f"{clock.minute} {hour_of(clock, clock.part)} {day} * *"}
        case [Day() | CalendarDay() as day, ClockTime() as clock]:
            part = _one_part(day.part, clock.part) if isinstance(day, Day) else clock.part
            if clock.hour in _EARLY and not (part or clock.is_sure):
                raise Unclear  # "tomorrow at 3" is rarely meant to be in the night
            return _once(day, time(hour_of(clock, part), clock.minute), local.replace(tzinfo=None))
        case _:
            return None


def _once(day: Day | CalendarDay, clock: time, now: datetime) -> Value:
    """The moment of a day, without an offset; None if it is over."""
    match day:
        case CalendarDay(month, number, None):
            at = datetime.combine(date(now.year, month, number), clock)
            at = at if at > now else datetime.combine(date(now.year + 1, month, number), clock)
        case CalendarDay(month, number, int() as year):
            at = datetime.combine(date(year, month, number), clock)
        case Day(ahead, None):
            at = datetime.combine(now.date() + timedelta(days=ahead), clock)
        case Day(_, int() as weekday, is_next_week):
            steps = weekday - now.weekday() + 7 if is_next_week else (weekday - now.weekday()) % 7
            at = datetime.combine(now.date() + timedelta(days=steps), clock)
            at = at if at > now else at + timedelta(days=7)
        case _:
            raise Unclear
    return {"at": at} if at > now else None


def _one_part(one: PartOfDay, other: PartOfDay) -> PartOfDay:
    if one and other and one != other:
        raise Unclear
    return one or other


def _has_day(rest: str) -> bool:
    """True if the task has words of a day, which may belong to a time of day that has none."""
    return bool(plain_english.OTHER_DAY.search(rest) or plain_chinese.OTHER_DAY.search(rest))


def _duration(seconds: int) -> str:
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
