"""`/api/proactive`: the agent's own state, and when it wakes."""

from datetime import datetime, time
from typing import Annotated, Literal

import msgspec

from agent.background.jobs.jobs_status import jobs_status
from agent.background.presence_files import give_order, order_waits, state_of
from agent.interfaces.http.operation import ACTOR, Call, NoParams, Operation
from agent.runs.planned_tasks import marked_tasks
from agent.runs.wake_times import (
    EVENING,
    MORNING,
    enable_schedule,
    set_active_days,
    set_wake_time,
    wake_schedule,
)
from agent.schedule.job_document import coming
from agent.workspace.workspace import Workspace, reload_settings

Reason = Annotated[str, msgspec.Meta(max_length=300)]
Clock = Annotated[str, msgspec.Meta(pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="HH:MM in the job's zone.")]
Day = Annotated[int, msgspec.Meta(ge=0, le=6)]
Days = Annotated[list[Day], msgspec.Meta(min_length=1, max_length=7, description="0 is Monday.")]
_OBEYED_WITHIN = 2.0
"""Seconds for which the answer to an order waits until the daemon has carried it out."""


class StateChange(msgspec.Struct, frozen=True):
    """A change of the agent's state."""

    at: str
    before: str
    after: str
    reason: str


class NextAction(msgspec.Struct, frozen=True):
    """The next thing that a job or task does by itself; `at` is null for what begins as soon as it may."""

    kind: Literal["job", "task"]
    id: str
    title: str
    at: str | None


class AgentStateView(msgspec.Struct, frozen=True):
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


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why the agent is to wake."""

    reason: Reason = ""


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


def status(call: Call[NoParams, None]) -> AgentStateView:
    """What the agent does now, did last and does next."""
    return _state(call.service.workspace, call.service.pool.state.running)


def start(call: Call[NoParams, None]) -> AgentStateView:
    """Let jobs and tasks run at their times."""
    enable_schedule(call.service.workspace, True)
    return status(call)


def stop(call: Call[NoParams, None]) -> AgentStateView:
    """Let no job and no task begin any more; what goes on is finished, then the agent sleeps."""
    enable_schedule(call.service.workspace, False)
    _order(call.service.workspace, "sleep", "stopped over HTTP")
    return status(call)


def wake(call: Call[NoParams, Wish]) -> AgentStateView:
    """Wake the agent: the tasks that wait begin now."""
    _order(call.service.workspace, "wake", " ".join(call.body.reason.split()) or "woken over HTTP")
    return _state(call.service.workspace, call.service.pool.state.running)


def sleep(call: Call[NoParams, None]) -> AgentStateView:
    """Let the agent sleep, after the work that goes on, until something is due."""
    _order(call.service.workspace, "sleep", "sent to sleep over HTTP")
    return status(call)


def get_schedule(call: Call[NoParams, None]) -> Schedule:
    """When the agent wakes by itself."""
    return _schedule(call.service.workspace)


def put_schedule(call: Call[NoParams, ScheduleChange]) -> Schedule:
    """Change when the agent wakes by itself."""
    asked, workspace = call.body, call.service.workspace
    if asked.active_days is not None:
        set_active_days(tuple(asked.active_days))
    for name, title, words in (
        (MORNING, "Morning wakeup", asked.morning_wakeup),
        (EVENING, "Evening wakeup", asked.evening_wakeup),
    ):
        if words is not None:
            set_wake_time(workspace, name, title, time.fromisoformat(words), ACTOR)
    if asked.enabled is not None:
        enable_schedule(workspace, asked.enabled)
    return _schedule(workspace)


def _order(workspace: Workspace, order: Literal["wake", "sleep"], reason: str) -> None:
    """Give the daemon an order, and wait a moment until it is carried out."""
    give_order(workspace.vault, order, reason)
    clock = workspace.vault.clock
    until = clock.monotonic() + _OBEYED_WITHIN
    while order_waits(workspace.vault) and clock.monotonic() < until:
        clock.sleep(0.02)


def _state(workspace: Workspace, working: tuple[str, ...]) -> AgentStateView:
    state, found = state_of(workspace.vault), jobs_status(workspace)
    waiting = marked_tasks(workspace).waiting
    actions = [
        NextAction("task", each.id, each.title, each.due.isoformat() if each.due else None) for each in waiting[:5]
    ]
    now = workspace.clock.now()
    for job in found.shelf.jobs:
        if job.status == "active" and job not in found.stopped:
            actions += [NextAction("job", job.id, job.title, each.at.isoformat()) for each in coming(job, now, 1)]
    actions.sort(key=lambda each: (each.at is not None, datetime.fromisoformat(each.at).timestamp() if each.at else 0))
    return AgentStateView(
        state.state if state else "sleeping",
        reload_settings(workspace).settings.schedule.enabled,
        state.since.isoformat() if state else None,
        str(state.reason) if state else None,
        state.last_wakeup.isoformat() if state and state.last_wakeup else None,
        state.last_sleep.isoformat() if state and state.last_sleep else None,
        state.tasks_completed_today if state else 0,
        state.last_daily_reset.isoformat() if state else None,
        list(working),
        len(waiting),
        actions[:10],
        [StateChange(each.at.isoformat(), each.before, each.after, str(each.reason)) for each in state.transitions][
            ::-1
        ]
        if state
        else [],
    )


def _schedule(workspace: Workspace) -> Schedule:
    found = wake_schedule(workspace)
    morning, evening = (f"{at:%H:%M}" if at else None for at in (found.morning_wakeup, found.evening_wakeup))
    return Schedule(found.enabled, morning, evening, list(found.active_days))


_P = "/api/proactive"
OPERATIONS = (
    Operation("GET", f"{_P}/status", "agent_status", "What the agent does", status, AgentStateView, NoParams),
    Operation("POST", f"{_P}/start", "start_agent", "Let jobs and tasks run", start, AgentStateView, NoParams),
    Operation("POST", f"{_P}/stop", "stop_agent", "Let no job and task begin", stop, AgentStateView, NoParams),
    Operation("POST", f"{_P}/wake", "wake_agent", "Wake the agent", wake, AgentStateView, NoParams, Wish),
    Operation("POST", f"{_P}/sleep", "sleep_agent", "Let the agent sleep", sleep, AgentStateView, NoParams),
    Operation("GET", f"{_P}/schedule", "get_schedule", "When the agent wakes", get_schedule, Schedule, NoParams),
    Operation("PUT", f"{_P}/schedule", "put_schedule", "Change when it wakes", put_schedule, Schedule, NoParams,
              ScheduleChange, 200, (409,)),
)  # fmt: skip
