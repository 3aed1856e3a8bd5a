"""How tasks are shown on the terminal, and as JSON."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from agent.interfaces.cli.language import listed, row, said
from agent.interfaces.cli.printing import columns, padded
from agent.interfaces.cli.time_format import format_ago, format_time
from agent.schedule.procedures import TASK_TYPES, TYPES
from agent.schedule.task import Task
from agent.schedule.task_notes import TaskShelf, needs

if TYPE_CHECKING:
    from agent.deeds.tasks import TaskView
    from agent.growth.task_work import TaskEnded


def task_document(task: "TaskView") -> dict[str, object]:
    """A task for `--json`, which has names of its own for two of its fields."""
    found = task.document()
    return {"task_type": found.pop("type"), "due": found.pop("scheduled_time"), **found}


def ended_document(ended: "TaskEnded") -> dict[str, object]:
    """What became of a task, for `--json`."""
    return {
        "id": ended.task.id,
        "status": ended.status,
        "text": ended.text,
        "did_something": ended.did_something,
        "with_model": not ended.is_plain,
        "waits_for": ended.waits_for or None,
        "session": ended.session or None,
        "commits": list(ended.commits),
        "money": round(ended.money, 6),
    }


def format_list(shelf: TaskShelf, now: datetime) -> list[str]:
    """The tasks that wait, the next one first, and the notes that are no right task."""
    width = max((columns(each.kind) for each in shelf.waiting), default=0)
    lines = [
        f"{each.priority:>2}  {padded(each.kind, width)}  {each.title}  [{each.id}]{_waits(each, shelf, now)}"
        for each in shelf.waiting
    ]
    for problem in shelf.problems:
        lines.append(said("{path} is not done: {problem}", path=problem.path, problem=said(problem.message)))
        lines += [said("  hint: {hint}", hint=said(problem.hint))] if problem.hint else []
    return lines or [said("no task waits")]


def format_history(done: Sequence[Task], now: datetime) -> list[str]:
    """The tasks that are over, the last one first."""
    lines = [
        f"{format_time(each.completed_at, now) if each.completed_at else '?'}  {said(each.status)}  {each.kind}  "
        f"{each.title}  [{each.id}]"
        for each in done
    ]
    return lines or [said("no task was done yet")]


def format_task(task: Task, shelf: TaskShelf, now: datetime) -> Iterator[str]:
    """One task in full."""
    yield f"{task.title}  [{task.id}]"
    yield row("type", task.kind)
    yield row("status", said(task.status) + _waits(task, shelf, now))
    yield row("priority", str(task.priority))
    if task.target_file:
        yield row("note", task.target_file)
    if task.completed_at:
        yield row("over", f"{format_time(task.completed_at, now)} ({format_ago(task.completed_at, now)})")
    for label, text in (("about", task.description), ("context", task.context)):
        if text:
            yield row(label, " ".join(text.split()))
    if task.result or task.error:
        yield row("result" if task.result else "error", task.result or task.error)
    yield row("in", task.path)


def format_types() -> list[str]:
    """The kinds of tasks, each with what it does."""
    width = max(map(len, TASK_TYPES))
    return [f"{kind:<{width}}  {said(TYPES[kind])}" for kind in TASK_TYPES]


def _waits(task: Task, shelf: TaskShelf, now: datetime) -> str:
    """Why a task is not begun now; empty if it may be, or is over."""
    if not task.is_waiting:
        return ""
    if task.status == "in_progress":
        return said(", in progress: {what}", what=task.result) if task.result else said(", in progress")
    if missing := needs(task, shelf.done):
        return said(", needs {tasks}", tasks=listed(missing))
    return said(", from {time} on", time=format_time(task.due, now)) if task.due and task.due > now else ""
