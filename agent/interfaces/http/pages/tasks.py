"""Tasks: what the agent will do by itself, the next one first, and what it did."""

from collections.abc import Mapping

from agent.deeds.tasks import cancel_task
from agent.errors import UserError
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.runs.planned_tasks import find_task, marked_tasks, plan_in_vault
from agent.schedule.procedures import TASK_TYPES, TYPES, target_name, task_type_of
from agent.schedule.task import HIGHEST, LOWEST, USUAL, Task, moment
from agent.schedule.task_notes import NewTask, TaskShelf, needs

_OVER = 50
"""Tasks that are over and are shown."""


def show(request: PageRequest) -> Mapping[str, object]:
    """The queue and the history."""
    shelf = marked_tasks(request.workspace)
    over = (*shelf.ended, *shelf.done)
    return {
        "queue": [(each, _needs(each, shelf)) for each in shelf.waiting],
        "over": over[:_OVER],
        "left": max(len(over) - _OVER, 0),
        "problems": shelf.problems,
    }


def show_task(request: PageRequest) -> Mapping[str, object]:
    """One task in full."""
    shelf = marked_tasks(request.workspace)
    task = find_task(shelf.all, shelf, request.named["id"])
    return {"task": task, "needed": _needs(task, shelf)}


def show_new(request: PageRequest) -> Mapping[str, object]:
    """The form for a new task."""
    kinds = [(kind, TYPES[kind]) for kind in TASK_TYPES]
    return {"kinds": kinds, "lowest": LOWEST, "usual": USUAL, "highest": HIGHEST}


def add(request: PageRequest) -> Done:
    """Plan a task; the same one is planned once a day."""
    kind, title = task_type_of(request.needed("type")), " ".join(request.needed("title").split())
    target = target_name(kind, request.field("target_file"), request.workspace.vault.home)
    due = request.field("from")
    new = NewTask(
        kind, title, request.field("description"), _priority(request), moment(due) if due else None, target
    )  # fmt: skip
    planned = plan_in_vault(request.workspace, new, again=False)
    return Done(request.text("task_planned"), f"/tasks/{planned.task.id}")


def _priority(request: PageRequest) -> int:
    given = request.field("priority") or str(USUAL)
    if not given.isdecimal() or not LOWEST <= int(given) <= HIGHEST:
        hint = "a whole number from {least} to {most}"
        raise UserError("{value} is no priority", hint=hint, value=given, least=LOWEST, most=HIGHEST)
    return int(given)


def delete(request: PageRequest) -> Done:
    """Take a task out of the queue; its note moves to the tasks that are over."""
    done = cancel_task(request.workspace, request.needed("id"))
    return Done(request.text("task_deleted", name=done.title))


def _needs(task: Task, shelf: TaskShelf) -> tuple[str, ...]:
    """The tasks that must be done before this one."""
    return needs(task, shelf.done) if task.is_waiting else ()


PAGE = Page("tasks", "/tasks", show, "k", under="jobs")
NEW = Page("new_task", "/tasks/new", show_new, under="tasks", is_live=False)
TASK = Page("task", "/tasks/{id:path}", show_task, under="tasks")
DEEDS = (Deed("/tasks/add", add), Deed("/tasks/delete", delete))
