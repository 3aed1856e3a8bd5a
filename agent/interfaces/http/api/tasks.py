"""`/api/proactive/tasks`: what the agent will do by itself, and what it did."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated

import msgspec

from agent.background.presence_files import give_order
from agent.deeds import tasks
from agent.deeds.result import Id
from agent.deeds.tasks import (
    Cancelled,
    TaskView,
    list_tasks,
    show_task,
    task_history,
    task_types,
    task_view,
)
from agent.interfaces.http.api.paging import listed
from agent.interfaces.http.operation import ACTOR, Routes, TypedReply
from agent.interfaces.http.problems import RequestRefused
from agent.runs.planned_tasks import find_task, marked_tasks, plain_task, plan_in_vault, reschedule
from agent.schedule.procedures import TaskType, target_name, task_type_of
from agent.schedule.task import HIGHEST, LOWEST, USUAL
from agent.schedule.task_notes import NewTask
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/proactive")
Priority = Annotated[int, msgspec.Meta(ge=LOWEST, le=HIGHEST)]
Title = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
Interval = Annotated[int, msgspec.Meta(ge=60, le=31_622_400)]


class PlanTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task to plan. `target_file` is, for explore_topic, the note in research/ that it works on; `context` is what it
    has to know, `dependencies` are the ids of tasks that must be done before. With `recurrence_interval` (in seconds)
    it becomes a job once it went well."""

    type: TaskType
    title: Title
    description: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    priority: Priority = USUAL
    target_file: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    scheduled_time: datetime | None = None
    context: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    dependencies: Annotated[list[Id], msgspec.Meta(max_length=20)] = []
    recurring: bool = False
    recurrence_interval: Interval | None = None


class TaskChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a task that waits; what is left out stays. `at_once` takes its time away."""

    scheduled_time: datetime | None = None
    at_once: bool = False
    priority: Priority | None = None


class RunNow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task to begin now, also if the same was done today."""

    type: TaskType
    title: Annotated[str, msgspec.Meta(max_length=300)] = ""


ROUTES.get("/tasks", "The tasks that wait")(listed("TaskList", "tasks", list_tasks))


@ROUTES.post("/tasks", "Plan a task", 200, 409, status=201)
def plan_task(workspace: Workspace, asked: PlanTask) -> TypedReply[TaskView]:
    """Plan a task; the same one is planned once a day, and then answered with 200."""
    kind = task_type_of(asked.type)
    title = " ".join(asked.title.split())
    if not title:
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "the title is empty")
    if asked.recurring != (asked.recurrence_interval is not None):
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "a recurring task needs a recurrence_interval")
    known = marked_tasks(workspace).all if asked.dependencies else ()
    able = [each for each in known if each.is_waiting or each.status == "completed"]
    for name in asked.dependencies:  # the task would wait for ever, and nobody would hear of it
        if not any(each.is_named(name) for each in able):
            raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "no task is called {name}", name=name)
    target = target_name(kind, asked.target_file or "", workspace.vault.home)
    due = asked.scheduled_time.astimezone() if asked.scheduled_time else None
    new = NewTask(
        kind,
        title,
        asked.description.strip(),
        asked.priority,
        due,
        target,
        asked.context.strip(),
        recurrence_interval=asked.recurrence_interval or 0,
        dependencies=tuple(asked.dependencies),
    )
    planned = plan_in_vault(workspace, new, again=False)
    shelf = marked_tasks(workspace)
    return TypedReply(task_view(planned.task, shelf), status=HTTPStatus.CREATED if planned.request else HTTPStatus.OK)


ROUTES.get("/tasks/history", "The tasks that are over")(listed("TaskHistory", "tasks", task_history))
ROUTES.get("/tasks/{id}", "One task", 404)(show_task)


@ROUTES.put("/tasks/{id}", "Change when a task is done", 404, 409)
def change_task(workspace: Workspace, id: Id, asked: TaskChange) -> TaskView:
    """Give a task that waits another time or priority."""
    if asked.at_once and asked.scheduled_time is not None:
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "give scheduled_time or at_once, not both")
    waiting = marked_tasks(workspace)
    before = find_task(waiting.waiting, waiting, id).due
    due = None if asked.at_once else asked.scheduled_time.astimezone() if asked.scheduled_time else before
    return task_view(reschedule(workspace, id, due, asked.priority, ACTOR), marked_tasks(workspace))


@ROUTES.delete("/tasks/{id}", "Cancel a task", 404, 409)
def cancel_task(workspace: Workspace, id: Id) -> Cancelled:
    """Take a task out of the queue; its note moves to tasks/done/."""
    return tasks.cancel_task(workspace, id)


@ROUTES.post("/actions/run-task", "Do a task now", 409, status=202)
def run_task(workspace: Workspace, asked: RunNow) -> TaskView:
    """Plan a task of this type before all others, and wake the agent for it."""
    kind, title = task_type_of(asked.type), " ".join(asked.title.split())
    new = NewTask(kind, title, priority=HIGHEST) if title else plain_task(workspace, kind)
    planned = plan_in_vault(workspace, new, again=True)
    give_order(workspace.vault, "wake", planned.task.title)
    return task_view(planned.task, marked_tasks(workspace))


ROUTES.get("/task-types", "The types of tasks")(task_types)
