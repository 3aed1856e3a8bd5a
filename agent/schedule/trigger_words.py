"""When and how often a job runs, in words: `30 7 * * 1-5` is "on weekdays at 07:30"; others stay as they are."""

import re
from datetime import time
from typing import assert_never
from zoneinfo import ZoneInfo

from agent.schedule.job import Job
from agent.schedule.occurrences import moment_in
from agent.schedule.rule_words import day_names, days_in_month, format_days, rule_words
from agent.schedule.triggers import At, ChangeTrigger, Cron, Every, OnEvent, RecurrenceRule, Trigger, format_trigger
from agent.texts import Language, text

_UNITS = (("week", 604_800), ("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
_DAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_STEP = re.compile(r"\*/([1-9]\d*)")
_NTH = re.compile(r"([0-7])(?:#([1-5])|l)")
_PART = re.compile(r"(\d|[a-z]{3})(?:-(\d|[a-z]{3}))?")


def job_words(job: Job, language: Language) -> list[str]:
    """The triggers of a job in words; where it keeps to some days of the week, those come last."""
    words = [trigger_words(each, job.zone, language) for each in job.triggers]
    days = sorted(set(job.active_days))
    return words if len(days) == 7 else [*words, text("times.only_on", language, days=day_names(days, language))]


def trigger_words(trigger: Trigger, zone: ZoneInfo, language: Language) -> str:
    """The trigger in words, its times in the job's zone; as its note may have it, if there are none."""
    match trigger:
        case Cron(expression):
            return _cron_words(expression.lower().split(), language) or format_trigger(trigger)
        case RecurrenceRule(rule):
            return rule_words(rule, language) or format_trigger(trigger)
        case Every(seconds):
            return _every(seconds, language)
        case At(moment):
            return text("times.once", language, moment=f"{moment_in(moment, zone):%Y-%m-%d %H:%M}")
        case ChangeTrigger():
            what = format_trigger(trigger).removeprefix("change ")
            return (
                text("times.on_change", language)
                if trigger == ChangeTrigger()
                else text("times.on_change_of", language, what=what)
            )
        case OnEvent(name):
            return text("times.on_event", language, name=name)
        case _:
            assert_never(trigger)


def often_words(times: float, language: Language) -> str:
    """The words for so many times a day, from once a day downwards in times a week."""
    is_daily = times >= 0.95
    count = times if is_daily else times * 7
    figure = f"{count:.0f}" if count >= 0.95 else f"{count:.2g}"
    unit, number = "day" if is_daily else "week", "one" if figure == "1" else "many"
    return text(f"times.about_a_{unit}_{number}", language, count=figure)


def _every(seconds: int, language: Language) -> str:
    unit, size = next((unit, size) for unit, size in _UNITS if seconds % size == 0)
    count = seconds // size
    return text(f"times.every_{unit}_{'one' if count == 1 else 'many'}", language, count=count)


def _cron_words(fields: list[str], language: Language) -> str:
    """The words for the five fields of an expression; empty for one of another form."""
    minute, hour, day, month, weekday = fields
    if [day, month, weekday] == ["*", "*", "*"] and hour == "*":
        step = _STEP.fullmatch(minute)
        if minute == "*" or (step and 60 % int(step[1]) == 0):
            return _every(60 * int(step[1]) if step else 60, language)
        return text("times.hourly_at", language, minute=f"{int(minute):02}") if minute.isdecimal() else ""
    if (
        [minute, day, month, weekday] == ["0", "*", "*", "*"]
        and (step := _STEP.fullmatch(hour))
        and 24 % int(step[1]) == 0
    ):
        return _every(3_600 * int(step[1]), language)
    times = _times(minute, hour)
    days = _days(day, month, weekday, language)
    return text("times.at_times", language, days=days, times=", ".join(times)) if times and days else ""


def _times(minute: str, hour: str) -> list[str]:
    """The times of day of plain numbers; empty for anything else."""
    hours = hour.split(",")
    if not minute.isdecimal() or not all(each.isdecimal() for each in hours):
        return []
    return [f"{time(int(each), int(minute)):%H:%M}" for each in hours]


def _days(day: str, month: str, weekday: str, language: Language) -> str:
    if month != "*" or (weekday == "*" and day != "*"):
        return days_in_month(day, month, language) if weekday == "*" else ""
    if weekday == "*":
        return text("times.each_day", language)
    if day == "*" and (nth := _NTH.fullmatch(weekday)):
        which = int(nth[2]) if nth[2] else -1
        return format_days([(int(nth[1]) - 1) % 7], which, language)
    numbers = _weekdays(weekday) if day == "*" else frozenset[int]()
    if numbers == frozenset(range(1, 6)):
        return text("times.on_weekdays", language)
    named = day_names([each - 1 for each in sorted(numbers)], language)
    return text("times.on_days", language, days=named) if named else ""


def _weekdays(field: str) -> frozenset[int]:
    """The days of a field such as `1-5` or `mon,thu`, 1 is Monday and 7 is Sunday; empty for another form."""
    found = set[int]()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        ends = [_weekday(each) for each in match.groups() if each] if match else [-1]
        if min(ends) < 0 or max(ends) > 7 or ends[0] > ends[-1]:
            return frozenset()
        found |= {each % 7 or 7 for each in range(ends[0], ends[-1] + 1)}
    return frozenset(found)


def _weekday(word: str) -> int:
    """The number of a day, 0 is Sunday; -1 for a word that is none."""
    return int(word) if word.isdecimal() else _DAYS.get(word, -1)
