"""What wakes the agent, as a person changes it in one step: jobs that only wake it, and the times of the day.

A job that does work is a note that the person writes, or says yes to; here it can only be switched on and off.
"""

import re
from collections.abc import Mapping
from datetime import time
from typing import Literal, TypeAlias

from agent.config.edit import set_machine
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.runs.job_upkeep import job_shelf, set_status
from agent.schedule.job import TYPE, Job, JobProblem
from agent.schedule.job_header import parse_job
from agent.schedule.new_job import make_job
from agent.schedule.triggers import At, ChangeTrigger, Cron, Every, OnEvent, RecurrenceRule, Trigger
from agent.vault.change import Stamp
from agent.vault.folders import JOBS
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace

MORNING, EVENING = "wake-morning", "wake-evening"
"""The jobs whose times are those of the morning and the evening."""
_TOOL = "triggers"
_DAILY = re.compile(r"([0-5]?\d) ([01]?\d|2[0-3]) \* \* \*")
_REASON = "reason"
WakeKind: TypeAlias = Literal["scheduled", "periodic", "task_due", "new_data", "user_request", "system"]
"""What wakes the agent: a moment, a time that comes again, a task, changed notes, its person, an event."""


@dataclass(frozen=True, slots=True)
class NewTrigger:
    """A job that only wakes: `on` as a job's header has it."""

    name: str
    on: Mapping[str, Value]
    reason: str = ""
    priority: int = 5
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class WakeSchedule:
    """When the agent wakes: None where the job of that time is missing, or wakes otherwise than once a day."""

    enabled: bool
    morning_wakeup: time | None
    evening_wakeup: time | None
    active_days: tuple[int, ...]


def kind_of(trigger: Trigger) -> WakeKind:
    """The kind of the trigger."""
    match trigger:
        case At():
            return "scheduled"
        case Cron() | RecurrenceRule() | Every():
            return "periodic"
        case ChangeTrigger():
            return "new_data"
        case OnEvent():
            return "system"


def reason_of(workspace: Workspace, job: Job) -> str:
    """Why a job wakes: what its header says, else what it does."""
    reason = Note.parse(workspace.vault.read(job.path) or b"").string(_REASON)
    return reason or job.task or job.text.partition("\n")[0] or job.title


def add_trigger(workspace: Workspace, new: NewTrigger, actor: str) -> Job:
    """Make a job that only wakes; raises `UserError` for a time that it cannot have."""
    vault, now = workspace.vault, workspace.clock.now().astimezone()
    fields: dict[str, Value] = {"on": dict(new.on), "priority": new.priority}
    fields |= {_REASON: new.reason} if new.reason else {}
    made = make_job(vault, new.name, "", fields, "dynamic", now)
    data = made.data if new.enabled else Note.parse(made.data).with_key("status", "paused").data
    with vault.transaction(f"job(add): {made.job.id}", Stamp(actor, tool=_TOOL)) as change:
        change.create(made.job.path, data)
    return _parse_valid_job(made.job.path, data)


def change_trigger(workspace: Workspace, job: Job, fields: Mapping[str, Value], enabled: bool, actor: str) -> Job:
    """Change the header of a job that only wakes, and whether it is active; of another job only the latter.

    Raises `UserError` for other changes of a job that does work, and for what its header cannot have.
    """
    vault = workspace.vault
    if fields and not job.only_wakes:
        raise UserError(
            "{id} does work, so its note decides when", hint="change {path}, or only enabled", id=job.id, path=job.path
        )
    base = vault.read(job.path)
    if fields and base is not None:
        note = Note.parse(base)
        for key, value in fields.items():
            note = note.with_key(key, value)
        changed = _parse_valid_job(job.path, note.data)
        with vault.transaction(f"job(edit): {job.id}", Stamp(actor, tool=_TOOL)) as change:
            change.edit(job.path, base, note.data)
        job = changed
    if enabled != (job.status == "active"):
        set_status(workspace, job, "active" if enabled else "paused")
    return job_shelf(workspace).load().find(job.id)


def remove_trigger(workspace: Workspace, job: Job, actor: str) -> None:
    """Delete a job that only wakes; raises `UserError` for one that does work."""
    if not job.only_wakes:
        hint = "pause it, or delete its note {path}"
        raise UserError("{id} does work and is not only a trigger", hint=hint, id=job.id, path=job.path)
    vault = workspace.vault
    with vault.transaction(f"job(delete): {job.id}", Stamp(actor, tool=_TOOL)) as change:
        change.delete(job.path, vault.read(job.path))


def wake_schedule(workspace: Workspace) -> WakeSchedule:
    """The schedule as it is now."""
    switch = schedule_switch(workspace)
    jobs = {job.id: job for job in job_shelf(workspace).load().jobs}
    morning, evening = (_time_of(jobs.get(name)) for name in (MORNING, EVENING))
    return WakeSchedule(switch.enabled, morning, evening, switch.days)


def set_wake_time(workspace: Workspace, name: str, title: str, at: time, actor: str) -> None:
    """Let the job of this name wake at this time of each day; it is made if it is missing."""
    cron: dict[str, Value] = {"cron": f"{at.minute} {at.hour} * * *"}
    job = next((each for each in job_shelf(workspace).load().jobs if each.id == name), None)
    if job is not None:
        if _time_of(job) != at:
            change_trigger(workspace, job, {"on": cron}, job.status == "active", actor)
        return
    vault = workspace.vault
    header: dict[str, Value] = {"id": name, "type": TYPE, "on": cron, "status": "active", "priority": 7}
    with vault.transaction(f"job(add): {name}", Stamp(actor, tool=_TOOL)) as change:
        change.create(vault.home.at(f"{JOBS}{name}.md"), Note.compose(header, f"# {title}\n").data)


def switch_schedule(workspace: Workspace, enabled: bool) -> None:
    """Let the jobs and tasks of this vault begin on this machine, or no more; raises `UserError` where a variable says
    otherwise, which then holds."""
    set_machine("schedule.enabled", "true" if enabled else "false", vault_id=workspace.vault.id)
    now = schedule_switch(workspace)
    if now.enabled is not enabled:
        raise UserError("{variable} is set in the environment and wins over this", hint="unset it, or change it there",
                        variable=now.variable)  # fmt: skip


def set_active_days(workspace: Workspace, days: tuple[int, ...]) -> None:
    """The days of the week on which jobs of this vault run on this machine; 0 is Monday."""
    set_machine("schedule.active_days", ",".join(map(str, sorted(set(days)))), vault_id=workspace.vault.id)


def _time_of(job: Job | None) -> time | None:
    match job.triggers if job is not None else ():
        case (Cron(expression),) if found := _DAILY.fullmatch(expression.strip()):
            return time(int(found[2]), int(found[1]))
        case _:
            return None


def _parse_valid_job(path: str, data: bytes) -> Job:
    job = parse_job(path, data)
    if isinstance(job, JobProblem):
        raise UserError("{problem}", hint="{fix}", problem=job.message, fix=job.hint)
    assert job is not None
    return job
