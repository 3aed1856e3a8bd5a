"""`/api/proactive/triggers`: the jobs as what wakes the agent."""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

import msgspec

from agent.background.presence_files import give_order
from agent.deeds.jobs import job_view
from agent.deeds.result import Id, ResultValue
from agent.interfaces.http.operation import ACTOR, NEXT, ListPage, Routes, TypedReply, page_of
from agent.interfaces.http.problems import RequestRefused
from agent.markdown.yaml_write import Value
from agent.runs import wake_times
from agent.runs.job_upkeep import job_shelf, record_here
from agent.runs.planned_tasks import marked_tasks, reschedule
from agent.schedule.job import Job
from agent.schedule.task import HIGHEST, LOWEST, USUAL, Task
from agent.schedule.triggers import At, Every
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/proactive/triggers")
Priority = Annotated[int, msgspec.Meta(ge=LOWEST, le=HIGHEST)]
Title = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
Reason = Annotated[str, msgspec.Meta(max_length=300)]


class TriggerView(ResultValue, frozen=True):
    """What wakes the agent: a job, or the time of a task that waits. Its `metadata` has the note, the times and what it
    does."""

    id: str
    type: wake_times.WakeKind
    name: str
    enabled: bool
    scheduled_time: str | None
    interval_seconds: int | None
    last_triggered: str | None
    priority: int
    reason: str
    metadata: dict[str, Any]


class TriggerList(msgspec.Struct, frozen=True):
    """All triggers."""

    triggers: list[TriggerView]
    next_cursor: NEXT


class TriggerChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a trigger; what is left out stays. A job that does work can only be switched on
    and off here."""

    enabled: bool | None = None
    priority: Priority | None = None
    reason: Reason | None = None
    scheduled_time: datetime | None = None
    interval_seconds: Annotated[int, msgspec.Meta(ge=60, le=31_622_400)] | None = None
    cron: Annotated[str, msgspec.Meta(max_length=100)] | None = None


class TriggerWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trigger to make, by its type: a moment (`scheduled` with `scheduled_time`); a time that comes again (`periodic`
    with `interval_seconds` or `cron`); the time of a task that waits (`task_due` with `task` and `scheduled_time`);
    notes that a person changes (`new_data` with `paths`, once `count` of them fit); an event of the program (`system`
    with `event`, such as `run.ended`); or a wish of the person's (`user_request`), which wakes the agent at once."""

    type: wake_times.WakeKind
    name: Title
    reason: Reason = ""
    enabled: bool = True
    priority: Priority | None = None
    scheduled_time: datetime | None = None
    interval_seconds: Annotated[int, msgspec.Meta(ge=60, le=31_622_400)] | None = None
    cron: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    task: Id | None = None
    paths: Annotated[list[Annotated[str, msgspec.Meta(max_length=300)]], msgspec.Meta(max_length=20)] = []
    count: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 1
    event: Annotated[str, msgspec.Meta(max_length=100)] | None = None


class RemovedTrigger(msgspec.Struct, frozen=True):
    """The trigger that was deleted; undo brings it back."""

    id: str
    removed: bool


@ROUTES.get("", "What wakes the agent")
def list_triggers(workspace: Workspace, page: ListPage) -> TriggerList:
    """What wakes the agent: the jobs, then the tasks that wait for their time."""
    jobs = job_shelf(workspace).load().jobs
    found: list[Job | Task] = [*jobs, *(each for each in marked_tasks(workspace).waiting if each.due is not None)]
    rows, after = page_of(found, lambda each: each.id, page)
    return TriggerList([_view(workspace, each) for each in rows], after)


@ROUTES.post("", "Make a trigger", 409, status=201)
def make_trigger(workspace: Workspace, asked: TriggerWish) -> TypedReply[TriggerView]:
    """Make a trigger: a note in jobs/ that only wakes the agent; for `task_due` the task gets its time, and a
    `user_request` wakes it now."""
    on = _on_of(asked)
    if not on:
        needed = _NEEDED[asked.type]
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "a trigger of this type needs {needed}", needed=needed)
    name = " ".join(asked.name.split())
    if not name:
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "the name is empty")
    reason = " ".join(asked.reason.split())
    if asked.type == "task_due" and asked.scheduled_time is not None:
        due = asked.scheduled_time.astimezone()
        task = reschedule(workspace, asked.task or "", due, asked.priority, ACTOR)
        return TypedReply(_view(workspace, task), {"Location": f"/api/proactive/tasks/{task.id}"})
    if asked.type == "user_request":
        give_order(workspace.vault, "wake", reason or name)
        return TypedReply(_woken(asked, name, reason), {"Location": "/api/proactive/status"})
    made = wake_times.add_trigger(
        workspace, wake_times.NewTrigger(name, on, reason, _priority(asked), asked.enabled), ACTOR
    )
    return TypedReply(_trigger(workspace, made), {"Location": f"/api/proactive/triggers/{made.id}"})


@ROUTES.put("/{id}", "Change a trigger", 404, 409)
def edit_trigger(workspace: Workspace, id: Id, asked: TriggerChange) -> TriggerView:
    """Change a trigger."""
    job = job_shelf(workspace).load().find(id)
    fields: dict[str, Value] = {}
    if on := _on(asked):
        fields["on"] = on
    if asked.priority is not None:
        fields["priority"] = asked.priority
    if asked.reason is not None:
        fields["reason"] = " ".join(asked.reason.split())
    enabled = job.status == "active" if asked.enabled is None else asked.enabled
    return _trigger(workspace, wake_times.change_trigger(workspace, job, fields, enabled, ACTOR))


@ROUTES.delete("/{id}", "Delete a trigger", 404, 409)
def delete_trigger(workspace: Workspace, id: Id) -> RemovedTrigger:
    """Delete a trigger that only wakes; a job that does work is a note of its own."""
    job = job_shelf(workspace).load().find(id)
    wake_times.remove_trigger(workspace, job, ACTOR)
    return RemovedTrigger(job.id, True)


_NEEDED: Mapping[wake_times.WakeKind, str] = {
    "scheduled": "scheduled_time",
    "periodic": "interval_seconds or cron",
    "task_due": "task and scheduled_time",
    "new_data": "paths",
    "user_request": "name",
    "system": "event",
}


def _on_of(asked: TriggerWish) -> dict[str, Value]:
    """The `on` of the header of a new trigger's job; empty if what its type needs is not given."""
    times = _on(asked)
    match asked.type:
        case "scheduled":
            return times if "at" in times else {}
        case "periodic":
            return times if times and "at" not in times else {}
        case "task_due":
            return times if asked.task and "at" in times else {}
        case "new_data":
            return {"change": {"path": list(asked.paths), "count": asked.count}} if asked.paths else {}
        case "user_request":
            return {"at": "now"}
        case "system":
            return {"event": asked.event} if asked.event else {}


def _on(asked: TriggerChange | TriggerWish) -> dict[str, Value]:
    """The `on` of a job's header; empty if no time is given. Raises `RequestRefused` for more than one."""
    values: dict[str, Value] = {}
    if asked.scheduled_time is not None:
        values["at"] = asked.scheduled_time.replace(microsecond=0)
    if asked.interval_seconds is not None:
        values["every"] = asked.interval_seconds
    if asked.cron is not None:
        values["cron"] = asked.cron
    if len(values) > 1:
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "give one of scheduled_time, interval_seconds and cron")
    return values


def _priority(asked: TriggerWish) -> int:
    return USUAL if asked.priority is None else asked.priority


def _woken(asked: TriggerWish, name: str, reason: str) -> TriggerView:
    """The view of a wish that is carried out at once, and kept nowhere."""
    return TriggerView(
        id="now",
        type=asked.type,
        name=name,
        enabled=True,
        scheduled_time=None,
        interval_seconds=None,
        last_triggered=None,
        priority=_priority(asked),
        reason=reason or name,
        metadata={},
    )


def _view(workspace: Workspace, found: Job | Task) -> TriggerView:
    return _trigger(workspace, found) if isinstance(found, Job) else _task_due(found)


def _task_due(task: Task) -> TriggerView:
    """The time of a task as a trigger."""
    return TriggerView.of(
        task,
        type="task_due",
        name=task.title,
        enabled=True,
        scheduled_time=task.due,
        interval_seconds=task.recurrence_interval or None,
        last_triggered=None,
        reason=task.description or task.title,
        metadata={"path": task.path, "task_type": task.kind},
    )


def _trigger(workspace: Workspace, job: Job) -> TriggerView:
    record, now = record_here(workspace, job), workspace.clock.now()
    about = job_view(job, now).document()
    return TriggerView.of(
        job,
        type=wake_times.kind_of(job.triggers[0]),
        name=job.title,
        enabled=job.status == "active" and not record.is_stopped,
        scheduled_time=next((each.moment for each in job.triggers if isinstance(each, At)), None),
        interval_seconds=next((each.seconds for each in job.triggers if isinstance(each, Every)), None),
        last_triggered=record.last_run_at,
        reason=wake_times.reason_of(workspace, job),
        metadata={name: about[name] for name in ("path", "on", "zone", "next", "only_wakes", "task")},
    )
