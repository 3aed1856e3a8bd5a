"""`discover_patterns`: what repeats in a week: hours, topics, questions; each with the notes that it rests on."""

import re
from collections.abc import Iterator, Sequence

from agent.growth.procedures.material import LoggedTask, bullets, counted, days_before, logs, quote, stated, week_of
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.growth.procedures.profile_lines import add_lines, new_lines
from agent.memory.store import StoredEntry
from agent.memory.understanding.statements import is_question
from agent.vault.change import Append
from agent.vault.folders import PROFILE

MODEL: ModelPart = "if_found"
WRITES: tuple[str, ...] = ()
INSIGHTS, DAYS = f"{PROFILE}51-patterns-insights.md", f"{PROFILE}30-daily-patterns.md"
_WEEK = 7
_MOST = 5
_EVIDENCE = 3
_PART = re.compile(r"^\W*DAYS\W*$", re.MULTILINE)
"""The line in a model's answer after which the patterns of the day stand."""
_PARTS_OF_DAY = ((5, "night"), (12, "morning"), (18, "afternoon"), (24, "evening"))
"""The hours before which a part of the day ends."""


def plain(context: ProcedureContext) -> Work:
    """Count the week up to today, once for each week."""
    heading = week_of(context.today)
    if f"## {heading}" in context.note(INSIGHTS) + context.note(DAYS):
        return Work()
    days = days_before(context.today, _WEEK)
    found, said = logs(context, days), stated(context, days)
    insights, hours = [*_topics(context, said), *_questions(context, found)], list(_hours(context, found))
    if not insights and not hours:
        return Work()
    text = context.text("patterns", week=heading) + "\n\n" + bullets([*insights, *hours])
    return Work(text) if context.runs.present else Work(text, _requests(context, insights, hours))


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """Add the lines of the answer that rest on a note, those after the line DAYS to the patterns of the day."""
    parts = _PART.split(answer, maxsplit=1)
    insights, hours = new_lines(context, INSIGHTS, parts[0]), new_lines(context, DAYS, "".join(parts[1:]))
    if not insights and not hours:
        return Work(context.text("no_evidence"), is_quiet=True)
    text = context.text("patterns", week=week_of(context.today)) + "\n\n" + bullets([*insights, *hours])
    return Work(text, _requests(context, insights, hours))


def _requests(context: ProcedureContext, insights: Sequence[str], hours: Sequence[str]) -> tuple[Append, ...]:
    week = week_of(context.today)
    return (*add_lines(context, INSIGHTS, week, insights), *add_lines(context, DAYS, week, hours))


def _topics(context: ProcedureContext, said: Sequence[StoredEntry]) -> Iterator[str]:
    for word, count in counted([word for each in said for word in each.entry.keywords], _MOST):
        links = [each.link for each in said if word in each.entry.keywords]
        if count > 1:
            yield context.text("topic", topic=quote(word), count=count, links=" ".join(links[:_EVIDENCE]))


def _questions(context: ProcedureContext, found: Sequence[LoggedTask]) -> Iterator[str]:
    asked = [each for each in found if is_question(each.logged.title)]
    for title, count in counted([each.logged.title.casefold() for each in asked], _MOST):
        again = [each for each in asked if each.logged.title.casefold() == title]
        links = dict.fromkeys(each.link for each in again)
        if count > 1:
            said = quote(again[0].logged.title)
            yield context.text("asked_again", question=said, count=count, links=" ".join([*links][:_EVIDENCE]))


def _hours(context: ProcedureContext, found: Sequence[LoggedTask]) -> Iterator[str]:
    parts = [next(name for end, name in _PARTS_OF_DAY if int(each.logged.time[:2]) < end) for each in found]
    for part, count in counted(parts, len(_PARTS_OF_DAY)):
        links = dict.fromkeys(each.link for each, own in zip(found, parts, strict=True) if own == part)
        named = context.text(f"part_{part}")
        yield context.text("active", part=named, count=count, links=" ".join([*links][:_EVIDENCE]))
