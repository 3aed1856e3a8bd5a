"""`/api/proactive/triggers`: the jobs as what wakes the agent."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

import msgspec

from agent.deeds.jobs import job_view
from agent.deeds.result import Id, ResultValue
from agent.interfaces.http.api.paging import NEXT, page_of
from agent.interfaces.http.operation import ACTOR, ListPage, Routes, TypedReply
from agent.interfaces.http.problems import RequestRefused
from agent.markdown.yaml_write import Value
from agent.runs.job_upkeep import job_shelf, record_here
from agent.runs.wake_times import (
    NewTrigger,
    WakeKind,
    add_trigger,
    change_trigger,
    kind_of,
    reason_of,
    remove_trigger,
)
from agent.schedule.job import Job
from agent.schedule.task import HIGHEST, LOWEST, USUAL
from agent.schedule.triggers import At, Every
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/proactive/triggers")
Priority = Annotated[int, msgspec.Meta(ge=LOWEST, le=HIGHEST)]
Title = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
Reason = Annotated[str, msgspec.Meta(max_length=300)]


class TriggerView(ResultValue, frozen=True):
    """What wakes the agent: a job. Its `metadata` has the note, the times and what it does."""

    id: str
    type: WakeKind
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
    """A trigger to make: a moment (`scheduled` with `scheduled_time`), or a time that comes again (`periodic` with
    `interval_seconds` or `cron`)."""

    type: Literal["scheduled", "periodic"]
    name: Title
    reason: Reason = ""
    enabled: bool = True
    priority: Priority = USUAL
    scheduled_time: datetime | None = None
    interval_seconds: Annotated[int, msgspec.Meta(ge=60, le=31_622_400)] | None = None
    cron: Annotated[str, msgspec.Meta(max_length=100)] | None = None


class RemovedTrigger(msgspec.Struct, frozen=True):
    """The trigger that was deleted; undo brings it back."""

    id: str
    removed: bool


@ROUTES.get("", "What wakes the agent")
def list_triggers(workspace: Workspace, page: ListPage) -> TriggerList:
    """What wakes the agent."""
    shown, after = page_of(job_shelf(workspace).load().jobs, lambda each: each.id, page)
    return TriggerList([_trigger(workspace, each) for each in shown], after)


@ROUTES.post("", "Make a trigger", 409, status=201)
def make_trigger(workspace: Workspace, asked: TriggerWish) -> TypedReply[TriggerView]:
    """Make a trigger: a note in jobs/ that only wakes the agent."""
    on = _on(asked)
    if not on or ("at" in on) != (asked.type == "scheduled"):
        needed = "scheduled_time" if asked.type == "scheduled" else "interval_seconds or cron"
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "a trigger of this type needs {needed}", needed=needed)
    name = " ".join(asked.name.split())
    if not name:
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "the name is empty")
    reason = " ".join(asked.reason.split())
    made = add_trigger(workspace, NewTrigger(name, on, reason, asked.priority, asked.enabled), ACTOR)
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
    return _trigger(workspace, change_trigger(workspace, job, fields, enabled, ACTOR))


@ROUTES.delete("/{id}", "Delete a trigger", 404, 409)
def delete_trigger(workspace: Workspace, id: Id) -> RemovedTrigger:
    """Delete a trigger that only wakes; a job that does work is a note of its own."""
    job = job_shelf(workspace).load().find(id)
    remove_trigger(workspace, job, ACTOR)
    return RemovedTrigger(job.id, True)


def _on(asked: TriggerChange | TriggerWish) -> dict[str, Value]:
    """The `on` of a job's header; empty if no time is given. Raises `RequestRefused` for more than one."""
    given: dict[str, Value] = {}
    if asked.scheduled_time is not None:
        given["at"] = asked.scheduled_time.replace(microsecond=0)
    if asked.interval_seconds is not None:
        given["every"] = asked.interval_seconds
    if asked.cron is not None:
        given["cron"] = asked.cron
    if len(given) > 1:
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "give one of scheduled_time, interval_seconds and cron")
    return given


def _trigger(workspace: Workspace, job: Job) -> TriggerView:
    record, now = record_here(workspace, job), workspace.clock.now()
    about = job_view(job, now).document()
    return TriggerView.of(
        job,
        type=kind_of(job.triggers[0]),
        name=job.title,
        enabled=job.status == "active" and not record.is_stopped,
        scheduled_time=next((each.moment for each in job.triggers if isinstance(each, At)), None),
        interval_seconds=next((each.seconds for each in job.triggers if isinstance(each, Every)), None),
        last_triggered=record.last_run_at,
        reason=reason_of(workspace, job),
        metadata={name: about[name] for name in ("path", "on", "zone", "next", "only_wakes", "task")},
    )
