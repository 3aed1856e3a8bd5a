"""`/api/proactive/tasks`: what the agent will do by itself, and what it did."""

from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Annotated

import msgspec

from agent.app.agent import opened_runs
from agent.background.presence_files import give_order
from agent.growth.task_work import TaskWork
from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.operation import Call, NoParams, Operation, TypedReply
from agent.interfaces.http.problems import RequestRefused
from agent.runs.planned_tasks import find_task, marked_tasks, plain_task, plan_in_vault
from agent.schedule.procedures import TASK_TYPES, TaskType, target_name, task_type_of
from agent.schedule.queue import needs
from agent.schedule.task import HIGHEST, LOWEST, USUAL, Task, TaskProblem
from agent.schedule.task_document import TYPES
from agent.schedule.task_notes import NewTask, TaskShelf

Priority = Annotated[int, msgspec.Meta(ge=LOWEST, le=HIGHEST)]
Title = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


class TaskId(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task by its id."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


class TaskView(msgspec.Struct, frozen=True):
    """One task. `scheduled_time`: it is not begun before; `needs`: the tasks that must be done before."""

    id: str
    type: str
    title: str
    description: str
    priority: int
    status: str
    scheduled_time: str | None
    recurring: bool
    recurrence_interval: int | None
    target_file: str | None
    context: str
    result: str
    error: str
    created_at: str | None
    started_at: str | None
    completed_at: str | None
    execution_time_ms: int
    path: str
    dependencies: list[str]
    needs: list[str]


class TaskProblemView(msgspec.Struct, frozen=True):
    """A note that is no right task."""

    path: str
    key: str
    message: str
    hint: str


class TaskList(msgspec.Struct, frozen=True):
    """The tasks that wait, the next one first, and the notes that are no right task."""

    tasks: list[TaskView]
    problems: list[TaskProblemView]
    next_cursor: NEXT


class TaskHistory(msgspec.Struct, frozen=True):
    """The tasks that are over, the last one first."""

    tasks: list[TaskView]
    next_cursor: NEXT


class PlanTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task to plan. `target_file` is the note that it works on, such as 23-interests-hobbies.md."""

    type: TaskType
    title: Title
    description: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    priority: Priority = USUAL
    target_file: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    scheduled_time: datetime | None = None


class RunNow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task to begin now, also if the same was done today."""

    type: TaskType
    title: Annotated[str, msgspec.Meta(max_length=300)] = ""


class Cancelled(msgspec.Struct, frozen=True):
    """The task that was taken out of the queue."""

    id: str
    status: str


class KindOfTask(msgspec.Struct, frozen=True):
    """A type of tasks and what it does."""

    type: str
    description: str


class KindsOfTasks(msgspec.Struct, frozen=True):
    """All types of tasks."""

    types: list[KindOfTask]


def list_tasks(call: Call[ListParams, None]) -> TaskList:
    """The tasks that wait."""
    shelf = marked_tasks(call.service.workspace)
    shown, after = page_of(shelf.waiting, lambda each: each.id, call.params)
    return TaskList([_task(each, shelf) for each in shown], [_problem(each) for each in shelf.problems], after)


def task_history(call: Call[ListParams, None]) -> TaskHistory:
    """The tasks that are over."""
    shelf = marked_tasks(call.service.workspace)
    shown, after = page_of(shelf.done, lambda each: each.id, call.params)
    return TaskHistory([_task(each, shelf) for each in shown], after)


def show_task(call: Call[TaskId, None]) -> TaskView:
    """One task, whether it waits or is over."""
    shelf = marked_tasks(call.service.workspace)
    return _task(find_task(shelf.all, shelf, call.params.id), shelf)


def plan_task(call: Call[NoParams, PlanTask]) -> TypedReply[TaskView]:
    """Plan a task; the same one is planned once a day, and then answered with 200."""
    asked, workspace = call.body, call.service.workspace
    kind = task_type_of(asked.type)
    title = " ".join(asked.title.split())
    if not title:
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "the title is empty")
    target = target_name(kind, asked.target_file or "", workspace.vault.home)
    due = asked.scheduled_time.astimezone() if asked.scheduled_time else None
    new = NewTask(kind, title, asked.description.strip(), asked.priority, due, target)
    planned = plan_in_vault(workspace, new, again=False)
    shelf = marked_tasks(workspace)
    return TypedReply(_task(planned.task, shelf), status=HTTPStatus.CREATED if planned.request else HTTPStatus.OK)


def cancel_task(call: Call[TaskId, None]) -> Cancelled:
    """Take a task out of the queue; its note moves to tasks/done/."""
    workspace = call.service.workspace
    shelf = marked_tasks(workspace)
    task = find_task(shelf.waiting, shelf, call.params.id)
    TaskWork(workspace, partial(opened_runs, workspace)).cancel(task)
    return Cancelled(task.id, "cancelled")


def run_task(call: Call[NoParams, RunNow]) -> TypedReply[TaskView]:
    """Plan a task of this type before all others, and wake the agent for it."""
    asked, workspace = call.body, call.service.workspace
    kind, title = task_type_of(asked.type), " ".join(asked.title.split())
    new = NewTask(kind, title, priority=HIGHEST) if title else plain_task(workspace, kind)
    planned = plan_in_vault(workspace, new, again=True)
    give_order(workspace.vault, "wake", planned.task.title)
    return TypedReply(_task(planned.task, marked_tasks(workspace)), status=HTTPStatus.ACCEPTED)


def task_types(call: Call[NoParams, None]) -> KindsOfTasks:
    """The types of tasks and what each does."""
    return KindsOfTasks([KindOfTask(kind, TYPES[kind]) for kind in TASK_TYPES])


def _task(task: Task, shelf: TaskShelf) -> TaskView:
    def iso(moment: datetime | None) -> str | None:
        return moment.isoformat() if moment else None

    return TaskView(
        task.id,
        task.kind,
        task.title,
        task.description,
        task.priority,
        task.status,
        iso(task.due),
        task.recurring,
        task.recurrence_interval or None,
        task.target_file or None,
        task.context,
        task.result,
        task.error,
        iso(task.created_at),
        iso(task.started_at),
        iso(task.completed_at),
        task.execution_time_ms,
        task.path,
        list(task.dependencies),
        list(needs(task, shelf.done)) if task.is_waiting else [],
    )


def _problem(problem: TaskProblem) -> TaskProblemView:
    return TaskProblemView(problem.path, problem.key, str(problem.message), str(problem.hint))


_P = "/api/proactive"
OPERATIONS = (
    Operation("GET", f"{_P}/tasks", "list_tasks", "The tasks that wait", list_tasks, TaskList, ListParams),
    Operation("POST", f"{_P}/tasks", "plan_task", "Plan a task", plan_task, TaskView, NoParams, PlanTask, 201,
              (200, 409)),
    Operation("GET", f"{_P}/tasks/history", "task_history", "The tasks that are over", task_history, TaskHistory,
              ListParams),
    Operation("GET", f"{_P}/tasks/{{id}}", "show_task", "One task", show_task, TaskView, TaskId, problems=(404,)),
    Operation("DELETE", f"{_P}/tasks/{{id}}", "cancel_task", "Cancel a task", cancel_task, Cancelled, TaskId,
              problems=(404, 409)),
    Operation("POST", f"{_P}/actions/run-task", "run_task", "Do a task now", run_task, TaskView, NoParams, RunNow, 202,
              (409,)),
    Operation("GET", f"{_P}/task-types", "task_types", "The types of tasks", task_types, KindsOfTasks, NoParams),
)  # fmt: skip
