"""`abandoned_task`: a task that nobody has done, touched or spoken of for a while."""

import math
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta

from agent.clock import in_clock_zone
from agent.growth.patterns.activity import Activity, OpenBox
from agent.growth.patterns.likeness import words_in
from agent.growth.patterns.pattern import Pattern, quoted, surest
from agent.markdown.tasks import parse_task_dates
from agent.memory.edits.form import dates_in
from agent.texts import Language, text

UNTOUCHED = timedelta(days=7)
"""The time without a touch after which a task counts as abandoned."""
_HALF_DONE = 7.0
"""Days in which a person does half of the tasks that they do at all."""
_FRESH, _FADES = 28.0, 14.0
"""Days after which an old task is less and less worth a word, and those in which it fades to half."""
_SHORTLY = timedelta(days=90)
_SPOKEN_OF = 0.75
"""The share of a task's words in one remark by which it was spoken of."""


def abandoned_tasks(activity: Activity, language: Language) -> tuple[Pattern, ...]:
    """The open tasks that were not touched for a week, nor spoken of, nor done elsewhere, nor are for a later day.

    Half of the tasks are done within a week, so that one which is still open after so many days is stuck with a
    probability of 1 - 2^(-days/7); after four weeks the interest in it fades with a half-life of two weeks.
    """
    done = {words_in(each) for each in activity.ticked}
    found = []
    for box in activity.boxes:
        words = words_in(box.text)
        since = max((box.since, *_spoken_of(activity, box, words), *_days_for(box)))
        if words and words not in done and activity.now - since >= UNTOUCHED:
            found.append(_pattern(activity.now, language, box, since))
    return surest(found)


def _days_for(box: OpenBox) -> Iterator[datetime]:
    """The days that the task is for, as its text says; a day without a year is the next one after the task was
    written, if it was not shortly before."""
    days = [day for day in [parse_task_dates(box.text).day] if day is not None]
    for seen in dates_in(box.text):
        for year in (seen.year,) if seen.year else (box.since.year, box.since.year + 1):
            with suppress(ValueError):
                day = date(year, *seen.key)
                if seen.year or day >= box.since.date() - _SHORTLY:
                    days.append(day)
                    break
    return (in_clock_zone(datetime.combine(day, time()), box.since) for day in days)


def _spoken_of(activity: Activity, box: OpenBox, words: frozenset[str]) -> Iterator[datetime]:
    """When a task was spoken of since, other than in its own note."""
    later = (each for each in activity.remarks if each.at > box.since and each.link != box.link)
    return (each.at for each in later if len(words & words_in(each.text)) >= _SPOKEN_OF * len(words))


def _pattern(now: datetime, language: Language, box: OpenBox, since: datetime) -> Pattern:
    days = (now - since).total_seconds() / 86_400
    sure = (1.0 - math.exp2(-days / _HALF_DONE)) * math.exp2(-max(0.0, days - _FRESH) / _FADES)
    subject = f"{box.link} {' '.join(sorted(words_in(box.text)))}"
    name = text("pattern.abandoned_task", language, task=quoted(box.text), day=since.date().isoformat())
    return Pattern("abandoned_task", subject, name, round(sure, 2), 1, since.date(), (box.link,), (box.text,))
