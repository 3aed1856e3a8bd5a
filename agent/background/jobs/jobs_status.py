"""What the agent does by itself, as of now: its state, the next job, and what is wrong with jobs."""

from collections.abc import Collection
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING

from agent.background.presence_files import state_of
from agent.dataclass import dataclass
from agent.lazy import later
from agent.runs.job_upkeep import job_record, job_shelf
from agent.schedule.agent_state import AgentState
from agent.schedule.job import Job
from agent.schedule.shelf import Shelf
from agent.vault.glance import has_asked
from agent.vault.store import Vault
from agent.workspace.schedule_switch import ScheduleSwitch, schedule_switch
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.runs.job_upkeep import OwedJob, owed_jobs
else:  # only where there are jobs
    owed_jobs = later("agent.runs.job_upkeep", "owed_jobs")


@dataclass(frozen=True, slots=True)
class JobsStatus:
    """The switch of the schedule, the agent's state (None: no daemon has run), the jobs, the next one with its time,
    those that failures have stopped, how many questions about jobs wait, and what was to be done once and is not done.
    """

    switch: ScheduleSwitch
    state: AgentState | None
    shelf: Shelf
    next_job: Job | None
    next_at: datetime | None
    stopped: tuple[Job, ...]
    asked: int
    owed: "tuple[OwedJob, ...]" = ()


def jobs_status(
    workspace: Workspace, goals: frozenset[str] | None = None, notes: Collection[str] | None = None
) -> JobsStatus:
    """Read from files; changes nothing. `goals` has the notes that may be goals, `notes` all notes, if they are
    known."""
    shelf, now = job_shelf(workspace, goals, notes).load(), workspace.clock.now()
    active = [job for job in shelf.jobs if job.status == "active"]
    stopped = tuple(job for job in active if job_record(workspace, job).is_stopped)
    times = [(each.at, job.id, job) for job in active if job not in stopped for each in job.coming(now, 1)]
    at, _, following = min(times, default=(None, "", None))
    owed, asked = owed_jobs(workspace, active) if active else (), _asked(workspace.vault)
    switch, state = schedule_switch(workspace), state_of(workspace.vault)
    return JobsStatus(switch, state, shelf, following, at, stopped, asked, owed)


def _asked(vault: Vault) -> int:
    """The number of questions about jobs that wait."""
    if not has_asked(vault, "job"):
        return 0
    return len(import_module("agent.runs.job_approvals").pending_job_approvals(vault))
