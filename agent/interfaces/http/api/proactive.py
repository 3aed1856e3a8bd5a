"""`/api/proactive`: the agent's own state, and when it wakes."""

from datetime import datetime, time
from typing import Annotated, Literal

import msgspec

from agent.background.jobs.jobs_status import jobs_status
from agent.background.presence_files import give_order, order_waits, state_of
from agent.deeds.result import ResultValue
from agent.interfaces.http.operation import ACTOR, Routes
from agent.interfaces.http.service import Service
from agent.runs.planned_tasks import marked_tasks
from agent.runs.wake_times import (
    EVENING,
    MORNING,
    set_active_days,
    set_wake_time,
    switch_schedule,
    wake_schedule,
)
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
    switch_schedule(service.workspace, True)
    return agent_status(service)


@ROUTES.post("/stop", "Let no job and task begin")
def stop_agent(service: Service) -> AgentStateView:
    """Let no job and no task of this vault begin any more; what goes on is finished, then the agent sleeps."""
    switch_schedule(service.workspace, False)
    return _ordered(service, "sleep", "stopped over HTTP")


@ROUTES.post("/wake", "Wake the agent")
def wake_agent(service: Service, wish: Wish) -> AgentStateView:
    """Wake the agent: the tasks that wait begin now."""
    return _ordered(service, "wake", " ".join(wish.reason.split()) or "woken over HTTP")


@ROUTES.post("/sleep", "Let the agent sleep")
def sleep_agent(service: Service) -> AgentStateView:
    """Let the agent sleep, after the work that goes on, until something is due."""
    return _ordered(service, "sleep", "sent to sleep over HTTP")


@ROUTES.get("/schedule", "When the agent wakes")
def get_schedule(workspace: Workspace) -> Schedule:
    """When the agent wakes by itself."""
    found = wake_schedule(workspace)
    morning, evening = (f"{at:%H:%M}" if at else None for at in (found.morning_wakeup, found.evening_wakeup))
    return Schedule(found.enabled, morning, evening, list(found.active_days))


@ROUTES.put("/schedule", "Change when it wakes", 409)
def put_schedule(workspace: Workspace, asked: ScheduleChange) -> Schedule:
    """Change when the agent wakes by itself."""
    if asked.active_days is not None:
        set_active_days(workspace, tuple(asked.active_days))
    for name, title, words in (
        (MORNING, "Morning wakeup", asked.morning_wakeup),
        (EVENING, "Evening wakeup", asked.evening_wakeup),
    ):
        if words is not None:
            set_wake_time(workspace, name, title, time.fromisoformat(words), ACTOR)
    if asked.enabled is not None:
        switch_schedule(workspace, asked.enabled)
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
