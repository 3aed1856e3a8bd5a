"""`self_reflection`: looks at what happened since the last time and at what comes, and plans work for the person: to
prepare, to draft, to chase, at most five tasks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from agent.clock import in_clock_zone
from agent.growth.lessons.reflection_notes import LookBack, append_look_back, last_look_back, reflections_name
from agent.growth.procedures.procedure import ProcedureContext, Work, bullets
from agent.markdown.links import note_link
from agent.memory import daily
from agent.memory.entry import with_offset
from agent.memory.store import entry_paths_on, load_entries
from agent.memory.understanding.wording import similarity, wording
from agent.runs.briefing.briefing import briefing_of
from agent.runs.briefing.dated import dated_lines
from agent.runs.owner import is_stated_by_owner
from agent.schedule.task import Task
from agent.schedule.task_notes import NewTask, PlannedTask, QueueFull, TaskShelf, load_tasks, plan_task
from agent.tools.builtin.jobs import MOST_PLANNED

_SAME = 0.9
"""The likeness of two looks back from which the second one says nothing new."""


def plain(context: ProcedureContext) -> Work:
    """What happened and what comes, for a model; without one, the appointments of tomorrow are to be prepared."""
    shelf = load_tasks(context.vault)
    if not context.runs.present:
        planned = tuple(_planned(context, shelf))
        requests = tuple(each.request for each in planned if each.request is not None)
        return Work(_plans(context, [each.task for each in planned]), requests) if requests else Work()
    since = _last(context)
    over = [each for each in shelf.done if each.completed_at and each.completed_at > since and _is_work(each)]
    comes = briefing_of(context.runs.workspace, context.today, for_model=True).text
    if not (over or comes or _has_more_since(context, since)):
        return Work()
    head = context.text("since", at=f"{in_clock_zone(since, context.now):%Y-%m-%d %H:%M}")
    return Work("\n\n".join(filter(None, (head, bullets(_lines(context, shelf, over)), comes))))


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """The answer goes into the day's note, with the tasks that were planned in its run; nothing if it plans nothing
    and says what the last look back said."""
    waiting = load_tasks(context.vault, done=False).waiting
    planned = [each for each in waiting if each.session and each.session == context.session.removesuffix(".md")]
    if not planned and _is_repeated(context, answer):
        return Work()
    words = "\n\n".join(filter(None, (answer, _plans(context, planned))))
    request = append_look_back(context.vault.home, context.now, context.text("look_back"), words, context.language)
    return Work(words, (request,), stands_in=request.path)


def _is_work(task: Task) -> bool:
    return task.kind != "self_reflection"


def _has_more_since(context: ProcedureContext, since: datetime) -> bool:
    """True if something was asked since then, or the person has stated something."""
    days = [context.today - timedelta(days=back) for back in range((context.today - since.date()).days + 1)]
    if any(_moment(context, day, each.time) > since for day in days for each in daily.log(context.day_note(day))):
        return True
    entries = load_entries(context.vault, (path for day in days for path in entry_paths_on(context.vault, day)))
    stated = (each for each in entries if is_stated_by_owner(each, context.runs.recall.foreign))
    return any(with_offset(each.entry.created) > since for each in stated)


def _last(context: ProcedureContext) -> datetime:
    """The moment of the last reflection, at most a day ago."""
    found = _last_look_back(context)
    return found.at if found is not None else context.now - timedelta(days=1)


def _last_look_back(context: ProcedureContext) -> LookBack | None:
    return last_look_back(context.vault, (context.today, context.today - timedelta(days=1)))


def _is_repeated(context: ProcedureContext, report: str) -> bool:
    """True if the last look back said nearly the same."""
    last = _last_look_back(context)
    return last is not None and similarity(wording(last.text), wording(report)) >= _SAME


def _moment(context: ProcedureContext, day: date, clock: str) -> datetime:
    hour, minute = (int(part) for part in clock.split(":"))
    return context.now.replace(
        year=day.year, month=day.month, day=day.day, hour=hour % 24, minute=minute % 60, second=0, microsecond=0
    )


def _lines(context: ProcedureContext, shelf: TaskShelf, over: Sequence[Task]) -> Iterator[str]:
    if over:
        done = sum(each.status == "completed" for each in over)
        yield context.text("review_tasks", done=done, failed=sum(each.status == "failed" for each in over))
    yield context.text("review_waiting", count=sum(map(_is_work, shelf.waiting)))


def _planned(context: ProcedureContext, shelf: TaskShelf) -> Iterator[PlannedTask]:
    """The new tasks, at most `MOST_PLANNED`; none that waits or was done today."""
    most = context.runs.workspace.settings.schedule.tasks_waiting
    count = 0
    for new in _ideas(context):
        try:
            found = plan_task(context.vault, new, shelf, context.now, most)
        except QueueFull:
            return
        if found.request is not None and count < MOST_PLANNED:
            count += 1
            shelf = replace(shelf, waiting=(*shelf.waiting, found.task))
            yield found


def _ideas(context: ProcedureContext) -> Iterator[NewTask]:
    """The appointments of tomorrow, each to be prepared."""
    tomorrow = context.today + timedelta(days=1)
    planned_in = f"[[{context.path(reflections_name(context.today)).removesuffix('.md')}]]"
    for line in dated_lines(context.vault, context.today, context.language).week:
        if line.day == tomorrow and line.at is not None:
            link = note_link(line.path)
            yield NewTask("prepare", line.words, link, priority=6, context=planned_in)


def _plans(context: ProcedureContext, planned: Sequence[Task]) -> str:
    """The planned tasks as a list; empty without any."""
    rows = bullets(f"[[{each.name}]]: {each.title}" for each in planned)
    return f"{context.text('planned')}\n\n{rows}" if planned else ""
