"""`/api/proactive`: the agent's own state, when it wakes, what it will do by itself, and what it did."""

from datetime import datetime, time
from http import HTTPStatus
from typing import Annotated, Literal

import msgspec

from agent.background.jobs.jobs_status import jobs_status
from agent.background.presence_files import give_order, order_waits, state_of
from agent.deeds import tasks
from agent.deeds import tasks as deeds
from agent.deeds.result import Id, ResultValue
from agent.interfaces.http.operation import ACTOR, Routes, TypedReply, listed
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.service import Service
from agent.runs import wake_times
from agent.runs.planned_tasks import find_task, marked_tasks, plain_task, plan_in_vault, reschedule
from agent.schedule.procedures import TaskType, target_name, task_type_of
from agent.schedule.task import HIGHEST, LOWEST, USUAL
from agent.schedule.task_notes import NewTask
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/proactive")
Reason = Annotated[str, msgspec.Meta(max_length=300)]
Clock = Annotated[str, msgspec.Meta(pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="HH:MM in the job's zone.")]
Day = Annotated[int, msgspec.Meta(ge=0, le=6)]
Days = Annotated[list[Day], msgspec.Meta(min_length=1, max_length=7, description="0 is Monday.")]
_OBEYED_WITHIN = 2.0
"""Seconds for which the answer to an order waits until the daemon has carried it out."""


class StateChange(ResultValue, frozen=True):
    """A change of the agent's state."""

    at: str
    before: str
    after: str
    reason: str


class NextAction(ResultValue, frozen=True):
    """The next thing that a job or task does by itself; `at` is null for what begins as soon as it may."""

    kind: Literal["job", "task"]
    id: str
    title: str
    at: str | None


class AgentStateView(ResultValue, frozen=True):
    """The agent's state: sleeping, waking_up, awake, working or going_to_sleep. `running` is false while it is stopped:
    no job and no task begins then. `working_on` are the pieces of work that go on."""

    state: str
    running: bool
    since: str | None
    reason: str | None
    last_wakeup: str | None
    last_sleep: str | None
    tasks_completed_today: int
    last_daily_reset: str | None
    working_on: list[str]
    pending_tasks: int
    next_actions: list[NextAction]
    transitions: list[StateChange]


class Schedule(msgspec.Struct, frozen=True):
    """When the agent wakes by itself; null where the job of that time is missing or wakes otherwise."""

    enabled: bool
    morning_wakeup: str | None
    evening_wakeup: str | None
    active_days: list[int]


class ScheduleChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of the schedule; what is left out stays."""

    enabled: bool | None = None
    morning_wakeup: Clock | None = None
    evening_wakeup: Clock | None = None
    active_days: Days | None = None


_NEVER = {"state": "sleeping", "tasks_completed_today": 0} | dict.fromkeys(
    ("since", "reason", "last_wakeup", "last_sleep", "last_daily_reset")
)
"""The state before a daemon has run."""


@ROUTES.get("/status", "What the agent does")
def agent_status(service: Service) -> AgentStateView:
    """What the agent does now, did last and does next."""
    return _state(service.workspace, service.pool.state.running)


@ROUTES.post("/start", "Let jobs and tasks run")
def start_agent(service: Service) -> AgentStateView:
    """Let jobs and tasks of this vault run at their times."""
    wake_times.switch_schedule(service.workspace, True)
    return agent_status(service)


@ROUTES.post("/stop", "Let no job and task begin")
def stop_agent(service: Service) -> AgentStateView:
    """Let no job and no task of this vault begin any more; what goes on is finished, then the agent sleeps."""
    wake_times.switch_schedule(service.workspace, False)
    return _ordered(service, "sleep", "stopped over HTTP")


@ROUTES.post("/wake", "Wake the agent")
def wake_agent(service: Service, reason: Reason = "") -> AgentStateView:
    """Wake the agent: the tasks that wait begin now."""
    return _ordered(service, "wake", " ".join(reason.split()) or "woken over HTTP")


@ROUTES.post("/sleep", "Let the agent sleep")
def sleep_agent(service: Service) -> AgentStateView:
    """Let the agent sleep, after the work that goes on, until something is due."""
    return _ordered(service, "sleep", "sent to sleep over HTTP")


@ROUTES.get("/schedule", "When the agent wakes")
def get_schedule(workspace: Workspace) -> Schedule:
    """When the agent wakes by itself."""
    found = wake_times.wake_schedule(workspace)
    morning, evening = (f"{at:%H:%M}" if at else None for at in (found.morning_wakeup, found.evening_wakeup))
    return Schedule(found.enabled, morning, evening, list(found.active_days))


@ROUTES.put("/schedule", "Change when it wakes", 409)
def put_schedule(workspace: Workspace, asked: ScheduleChange) -> Schedule:
    """Change when the agent wakes by itself."""
    if asked.active_days is not None:
        wake_times.set_active_days(workspace, tuple(asked.active_days))
    for name, title, words in (
        (wake_times.MORNING, "Morning wakeup", asked.morning_wakeup),
        (wake_times.EVENING, "Evening wakeup", asked.evening_wakeup),
    ):
        if words is not None:
            wake_times.set_wake_time(workspace, name, title, time.fromisoformat(words), ACTOR)
    if asked.enabled is not None:
        wake_times.switch_schedule(workspace, asked.enabled)
    return get_schedule(workspace)


def _ordered(service: Service, order: Literal["wake", "sleep"], reason: str) -> AgentStateView:
    """Give the daemon an order, and wait a moment until it is carried out."""
    workspace = service.workspace
    give_order(workspace.vault, order, reason)
    clock = workspace.vault.clock
    until = clock.monotonic() + _OBEYED_WITHIN
    while order_waits(workspace.vault) and clock.monotonic() < until:
        clock.sleep(0.02)
    return agent_status(service)


def _state(workspace: Workspace, working: tuple[str, ...]) -> AgentStateView:
    state, found = state_of(workspace.vault), jobs_status(workspace)
    waiting = marked_tasks(workspace).waiting
    actions = [NextAction.of(each, kind="task", at=each.due) for each in waiting[:5]]
    now = workspace.clock.now()
    for job in found.shelf.jobs:
        if job.status == "active" and job not in found.stopped:
            actions += [NextAction.of(job, kind="job", at=each.at) for each in job.coming(now, 1)]
    actions.sort(key=lambda each: (each.at is not None, datetime.fromisoformat(each.at).timestamp() if each.at else 0))
    return AgentStateView.of(
        *((state,) if state else ()),
        **({} if state else _NEVER),
        running=found.switch.enabled,
        working_on=working,
        pending_tasks=len(waiting),
        next_actions=actions[:10],
        transitions=[StateChange.of(each) for each in reversed(state.transitions)] if state else [],
    )


TASKS = Routes("/api/proactive")
Priority = Annotated[int, msgspec.Meta(ge=LOWEST, le=HIGHEST)]
Title = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
TaskTitle = Annotated[str, msgspec.Meta(max_length=300)]
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


TASKS.get("/tasks", "The tasks that wait")(listed("TaskList", "tasks", deeds.list_tasks))


@TASKS.post("/tasks", "Plan a task", 200, 409, status=201)
def plan_task(workspace: Workspace, asked: PlanTask) -> TypedReply[deeds.TaskView]:
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
    return TypedReply(
        deeds.task_view(planned.task, shelf), status=HTTPStatus.CREATED if planned.request else HTTPStatus.OK
    )


TASKS.get("/tasks/history", "The tasks that are over")(listed("TaskHistory", "tasks", deeds.task_history))
TASKS.get("/tasks/{id}", "One task", 404)(deeds.show_task)


@TASKS.put("/tasks/{id}", "Change when a task is done", 404, 409)
def change_task(
    workspace: Workspace,
    id: Id,
    scheduled_time: datetime | None = None,
    at_once: bool = False,
    priority: Priority | None = None,
) -> deeds.TaskView:
    """Give a task that waits another time or priority; `at_once` takes its time away, and what is left out stays."""
    if at_once and scheduled_time is not None:
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "give scheduled_time or at_once, not both")
    waiting = marked_tasks(workspace)
    before = find_task(waiting.waiting, waiting, id).due
    due = None if at_once else scheduled_time.astimezone() if scheduled_time else before
    return deeds.task_view(reschedule(workspace, id, due, priority, ACTOR), marked_tasks(workspace))


@TASKS.delete("/tasks/{id}", "Cancel a task", 404, 409)
def cancel_task(workspace: Workspace, id: Id) -> deeds.Cancelled:
    """Take a task out of the queue; its note moves to tasks/done/."""
    return tasks.cancel_task(workspace, id)


@TASKS.post("/actions/run-task", "Do a task now", 409, status=202)
def run_task(workspace: Workspace, type: TaskType, title: TaskTitle = "") -> deeds.TaskView:
    """Plan a task of this type before all others, and wake the agent for it."""
    kind, title = task_type_of(type), " ".join(title.split())
    new = NewTask(kind, title, priority=HIGHEST) if title else plain_task(workspace, kind)
    planned = plan_in_vault(workspace, new, again=True)
    give_order(workspace.vault, "wake", planned.task.title)
    return deeds.task_view(planned.task, marked_tasks(workspace))


TASKS.get("/task-types", "The types of tasks")(deeds.task_types)
