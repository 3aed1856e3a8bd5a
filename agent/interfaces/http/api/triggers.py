"""`/api/proactive/triggers`: the jobs as what wakes the agent."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

import msgspec

from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.operation import ACTOR, Call, NoParams, Operation, TypedReply
from agent.interfaces.http.problems import RequestRefused
from agent.markdown.values import Value
from agent.runs.job_upkeep import job_record, job_shelf
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
from agent.schedule.job_document import coming, occurrence_documents
from agent.schedule.task import HIGHEST, LOWEST, USUAL
from agent.schedule.triggers import At, Every, format_trigger
from agent.workspace.workspace import Workspace

Priority = Annotated[int, msgspec.Meta(ge=LOWEST, le=HIGHEST)]
Title = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
Reason = Annotated[str, msgspec.Meta(max_length=300)]


class TriggerId(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trigger by its id."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


class TriggerView(msgspec.Struct, frozen=True):
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


def list_triggers(call: Call[ListParams, None]) -> TriggerList:
    """What wakes the agent."""
    workspace = call.service.workspace
    shown, after = page_of(job_shelf(workspace).load().jobs, lambda each: each.id, call.params)
    return TriggerList([_trigger(workspace, each) for each in shown], after)


def make_trigger(call: Call[NoParams, TriggerWish]) -> TypedReply[TriggerView]:
    """Make a trigger: a note in jobs/ that only wakes the agent."""
    asked, workspace = call.body, call.service.workspace
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


def edit_trigger(call: Call[TriggerId, TriggerChange]) -> TriggerView:
    """Change a trigger."""
    asked, workspace = call.body, call.service.workspace
    job = job_shelf(workspace).load().find(call.params.id)
    fields: dict[str, Value] = {}
    if on := _on(asked):
        fields["on"] = on
    if asked.priority is not None:
        fields["priority"] = asked.priority
    if asked.reason is not None:
        fields["reason"] = " ".join(asked.reason.split())
    enabled = job.status == "active" if asked.enabled is None else asked.enabled
    return _trigger(workspace, change_trigger(workspace, job, fields, enabled, ACTOR))


def delete_trigger(call: Call[TriggerId, None]) -> RemovedTrigger:
    """Delete a trigger that only wakes; a job that does work is a note of its own."""
    workspace = call.service.workspace
    job = job_shelf(workspace).load().find(call.params.id)
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
    record, now = job_record(workspace, job.id), workspace.clock.now()
    moments = [each.moment.isoformat() for each in job.triggers if isinstance(each, At)]
    steps = [each.seconds for each in job.triggers if isinstance(each, Every)]
    return TriggerView(
        job.id,
        kind_of(job.triggers[0]),
        job.title,
        job.status == "active" and not record.is_stopped,
        moments[0] if moments else None,
        steps[0] if steps else None,
        record.last_run_at.isoformat() if record.last_run_at else None,
        job.priority,
        reason_of(workspace, job),
        {
            "path": job.path,
            "on": [format_trigger(each) for each in job.triggers],
            "zone": job.zone.key,
            "next": [each["at"] for each in occurrence_documents(coming(job, now, 1))],
            "only_wakes": job.only_wakes,
            "task": job.task,
        },
    )


_P = "/api/proactive"
OPERATIONS = (
    Operation("GET", f"{_P}/triggers", "list_triggers", "What wakes the agent", list_triggers, TriggerList, ListParams),
    Operation("POST", f"{_P}/triggers", "make_trigger", "Make a trigger", make_trigger, TriggerView, NoParams,
              TriggerWish, 201, (409,)),
    Operation("PUT", f"{_P}/triggers/{{id}}", "edit_trigger", "Change a trigger", edit_trigger, TriggerView, TriggerId,
              TriggerChange, 200, (404, 409)),
    Operation("DELETE", f"{_P}/triggers/{{id}}", "delete_trigger", "Delete a trigger", delete_trigger, RemovedTrigger,
              TriggerId, problems=(404, 409)),
)  # fmt: skip
