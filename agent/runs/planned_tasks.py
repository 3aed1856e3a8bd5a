"""The agent's tasks for an interface: listed with what has begun, found by name, and planned in the person's name."""

from collections.abc import Sequence
from datetime import datetime

from agent.errors import Unknown, UserError
from agent.schedule.procedures import WORK_TYPES, TaskType
from agent.schedule.task import Task
from agent.schedule.task_notes import NewTask, PlannedTask, TaskShelf, load_tasks, plan_task, rescheduled
from agent.schedule.task_progress import TaskProgress
from agent.texts import text
from agent.vault.change import Stamp
from agent.workspace.workspace import Workspace

_FEWEST = 4
"""The fewest characters by which a task is found in its id or title."""


def marked_tasks(workspace: Workspace) -> TaskShelf:
    """The tasks, with those that this machine has begun in progress."""
    return TaskProgress.load(workspace.vault.records).mark(load_tasks(workspace.vault))


def find_task(among: tuple[Task, ...], shelf: TaskShelf, name: str) -> Task:
    """The task that a person means; raises `UserError`."""
    plain = name.strip().casefold()
    found = _named(among, plain)
    if len(found) == 1:
        return found[0]
    wrong = next((each for each in shelf.problems if plain and plain in each.path.casefold()), None)
    if not found and wrong is not None:
        raise UserError("{path} is not done: {problem}", hint=wrong.hint, path=wrong.path, problem=wrong.message)
    hint = "vault-agent jobs tasks; vault-agent jobs tasks history"
    if found:
        raise UserError("several tasks are called {name}", hint=hint, name=name)
    raise Unknown("no task is called {name}", hint=hint, name=name)


def plain_task(workspace: Workspace, kind: TaskType) -> NewTask:
    """A task of which only the type is known; raises `UserError` for one whose title says what it is about."""
    if kind in WORK_TYPES:
        raise UserError("{kind} needs a topic", hint='vault-agent jobs tasks add explore_topic "green tea"', kind=kind)
    return NewTask(kind, text(f"task.{kind}", workspace.settings.vault.language))


def reschedule(workspace: Workspace, name: str, due: datetime | None, priority: int | None, actor: str) -> Task:
    """Give a task that waits another time (None: as soon as it may) and, unless None, another priority.

    Raises `UserError` for a task that does not wait, or that has begun.
    """
    vault, shelf, now = workspace.vault, marked_tasks(workspace), workspace.clock.now()
    task = find_task(shelf.waiting, shelf, name)
    if not task.may_begin:
        hint = "vault-agent jobs tasks shows how far it is"
        raise UserError("{title} has begun already", hint=hint, title=task.title)
    requests = rescheduled(vault, task, due, task.priority if priority is None else priority, now)
    if requests:
        with vault.transaction(f"task(change): {task.title}", Stamp(actor, tool="tasks")) as change:
            change.requests += requests
    after = marked_tasks(workspace)
    return find_task(after.waiting, after, task.id)


def plan_in_vault(workspace: Workspace, new: NewTask, *, again: bool) -> PlannedTask:
    """Plan a task, in the person's name."""
    vault = workspace.vault
    most = workspace.settings.schedule.tasks_waiting
    planned = plan_task(vault, new, load_tasks(vault), workspace.clock.now(), most, again=again)
    if planned.request is not None:
        with vault.transaction(f"task(plan): {new.title}", Stamp("human", tool="tasks")) as change:
            change.requests.append(planned.request)
    return planned


def _named(among: Sequence[Task], plain: str) -> list[Task]:
    """The tasks that have this id, name or path; if there is none, this title; else these characters in either."""
    exact = [each for each in among if plain in {each.id.casefold(), each.name.casefold(), each.path.casefold()}]
    titled = [each for each in among if each.title.casefold() == plain]
    is_part = len(plain) >= _FEWEST
    parts = [each for each in among if is_part and plain in f"{each.id}\n{each.title}".casefold()]
    return exact or titled or parts
