"""The agent's own tasks: what it will do by itself, and what it did."""

from functools import partial
from typing import TYPE_CHECKING

from agent.deeds.result import Id, ResultValue
from agent.lazy import later
from agent.runs.planned_tasks import find_task, marked_tasks
from agent.schedule.procedures import TASK_TYPES, TYPES
from agent.schedule.task import Task
from agent.schedule.task_notes import TaskShelf, needs
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.app.agent import opened_runs
    from agent.growth.task_work import TaskWork
else:  # only where a task is ended
    opened_runs = later("agent.app.agent", "opened_runs")
    TaskWork = later("agent.growth.task_work", "TaskWork")


class TaskView(ResultValue, frozen=True):
    """One task. `scheduled_time`: it is not begun before; `needs`: the tasks that must be done before."""

    id: str
    path: str
    type: str
    title: str
    description: str
    status: str
    priority: int
    scheduled_time: str | None
    recurring: bool
    recurrence_interval: int | None
    target_file: str | None
    dependencies: list[str]
    needs: list[str]
    context: str
    result: str
    error: str
    created_at: str | None
    started_at: str | None
    completed_at: str | None
    execution_time_ms: int


class TaskProblemView(ResultValue, frozen=True):
    """A note that is no right task."""

    path: str
    key: str
    message: str
    hint: str


class ListedTasks(ResultValue, frozen=True):
    """The tasks that wait, the next one first, and the notes that are no right task."""

    tasks: list[TaskView]
    problems: list[TaskProblemView]


class PastTasks(ResultValue, frozen=True):
    """The tasks that are over, the last one first."""

    tasks: list[TaskView]


class Cancelled(ResultValue, frozen=True):
    """The task that was taken out of the queue."""

    id: str
    title: str
    status: str


class KindOfTask(ResultValue, frozen=True):
    """A type of tasks and what it does."""

    type: str
    description: str


class KindsOfTasks(ResultValue, frozen=True):
    """All types of tasks."""

    types: list[KindOfTask]


def task_view(task: Task, shelf: TaskShelf) -> TaskView:
    """One task."""
    needed = needs(task, shelf.done) if task.is_waiting else ()
    interval = task.recurrence_interval or None
    return TaskView.of(task, type=task.kind, scheduled_time=task.due, recurrence_interval=interval, needs=needed)


def list_tasks(workspace: Workspace) -> ListedTasks:
    """The tasks that wait."""
    shelf = marked_tasks(workspace)
    problems = [TaskProblemView.of(each) for each in shelf.problems]
    return ListedTasks([task_view(each, shelf) for each in shelf.waiting], problems)


def task_history(workspace: Workspace) -> PastTasks:
    """The tasks that are over."""
    shelf = marked_tasks(workspace)
    return PastTasks([task_view(each, shelf) for each in shelf.done])


def show_task(workspace: Workspace, id: Id) -> TaskView:
    """One task, whether it waits or is over."""
    shelf = marked_tasks(workspace)
    return task_view(find_task(shelf.all, shelf, id), shelf)


def cancel_task(workspace: Workspace, id: Id, reason: str = "") -> Cancelled:
    """Take a task out of the queue; its note moves to tasks/done/."""
    shelf = marked_tasks(workspace)
    task = find_task(shelf.waiting, shelf, id)
    TaskWork(workspace, partial(opened_runs, workspace)).cancel(task, reason)
    return Cancelled(task.id, task.title, "cancelled")


def task_types(workspace: Workspace) -> KindsOfTasks:
    """The types of tasks and what each does."""
    return KindsOfTasks([KindOfTask(kind, TYPES[kind]) for kind in TASK_TYPES])
