"""`summarize_period`: the summary of a day in its note, or of a week in a note of its own, with links to the days."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta

from agent.dataclass import dataclass
from agent.growth.procedures.material import bullets, days_before, logs, quote, stated, week_of
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.markdown.note import Note
from agent.memory import daily
from agent.memory.store import entries_on_day
from agent.memory.upkeep.day_summary import day_summary
from agent.vault.change import Create, Edit, Request
from agent.vault.folders import DAILY, AgentFolder

MODEL: ModelPart = "if_found"
WRITES: tuple[str, ...] = ()
_WEEK = re.compile(r"week|周|星期|礼拜", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_YESTERDAY = re.compile(r"yesterday|昨", re.IGNORECASE)
_EARLY = 5
"""The hour before which "today" is still the day before."""
_MOST = 5


@dataclass(frozen=True, slots=True)
class _Period:
    """A day, or the week up to it."""

    last: date
    is_week: bool

    def note(self, home: AgentFolder) -> str:
        """The path of the note of the summary."""
        return home.at(f"{DAILY}{week_of(self.last)}.md") if self.is_week else home.day_note(self.last)

    @property
    def days(self) -> tuple[date, ...]:
        return days_before(self.last, self.last.isoweekday() if self.is_week else 1)


def plain(context: ProcedureContext) -> Work:
    """Sum the period up from what was stated and logged; nothing if the summary says all of it already."""
    period = _period(context)
    summary = _of_week(context, period) if period.is_week else _of_day(context, period.last)
    requests = _requests(context, period, summary)
    if not requests:
        return Work()
    if context.runs.present:
        return Work(summary)
    return _work(context, period, requests)


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """Put the summary into its note, if no person has changed the one that is there."""
    period = _period(context)
    heading = context.text("week_summary", week=week_of(period.last)) if period.is_week else ""
    title = heading or context.text("day_summary")
    body = answer if answer.lstrip().startswith("#") else f"## {title}\n\n{answer}"
    requests = _requests(context, period, f"{body.strip()}\n", of_model=True)
    return _work(context, period, requests) if requests else Work(context.text("summary_kept"), is_quiet=True)


def _work(context: ProcedureContext, period: _Period, requests: tuple[Request, ...]) -> Work:
    """What was written. A day's note has its summary, and no link to itself besides; that of a week is pointed at."""
    path = period.note(context.vault.home)
    said = context.text("summed_up", link=f"[[{path.removesuffix('.md')}]]")
    return Work(said, requests, stands_in="" if period.is_week else path)


def _period(context: ProcedureContext) -> _Period:
    """The period that the task names; else today, or in the first hours the day before."""
    asked = " ".join((context.call.title, context.call.description, context.call.context))
    back = 1 if context.now.hour < _EARLY or _YESTERDAY.search(asked) else 0
    last = context.today - timedelta(days=back)
    if named := _DAY.search(asked):
        with suppress(ValueError):
            last = date.fromisoformat(named[0])
    return _Period(last, _WEEK.search(asked) is not None)


def _of_day(context: ProcedureContext, day: date) -> str:
    note = context.day_note(day)
    return day_summary(entries_on_day(context.vault, day), daily.log(note), context.language)


def _of_week(context: ProcedureContext, period: _Period) -> str:
    rows = [row for day in period.days for row in _day_rows(context, day)]
    if not rows:
        return ""
    return "\n".join([f"## {context.text('week_summary', week=week_of(period.last))}", "", *rows]) + "\n"


def _day_rows(context: ProcedureContext, day: date) -> Iterator[str]:
    said, done = stated(context, [day]), logs(context, [day])
    if not said and not done:
        return
    yield f"### {daily.link_to(day, context.vault.home)}\n"
    if done:
        titles = ", ".join(quote(each.logged.title) for each in done[:_MOST])
        yield bullets([context.text("day_tasks", count=len(done), titles=titles)])
    if said:
        yield bullets(f"{quote(each.entry.text)} ({each.link})" for each in reversed(said[:_MOST]))
    yield ""


def _requests(
    context: ProcedureContext, period: _Period, summary: str, *, of_model: bool = False
) -> tuple[Request, ...]:
    path = period.note(context.vault.home)
    before = context.vault.read(path)
    text = None if before is None else before.decode("utf-8", "surrogateescape")
    there = _new_note(context, period) if text is None else text
    after = daily.with_summary(there, summary, of_model=of_model) if summary else text
    if after is None or after == text:
        return ()
    data = after.encode("utf-8", "surrogateescape")
    return (Create(path, data),) if before is None else (Edit(path, before, data),)


def _new_note(context: ProcedureContext, period: _Period) -> str:
    if not period.is_week:
        return daily.beginning(context.vault, period.last).decode("utf-8", "surrogateescape")
    week = week_of(period.last)
    return Note.compose({"type": "weekly", "week": week}, f"# {week}\n").text
