"""What the agent does by itself, as of now: its state, the next job, and what is wrong with jobs."""

from collections.abc import Collection
from datetime import datetime
from importlib import import_module

from agent.background.presence_files import state_of
from agent.dataclass import dataclass
from agent.runs.job_upkeep import job_record, job_shelf
from agent.schedule.agent_state import AgentState
from agent.schedule.job import Job
from agent.schedule.job_document import coming, problem_document
from agent.schedule.shelf import Shelf
from agent.vault.glance import has_records
from agent.vault.layout import JOB_APPROVALS
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class JobsStatus:
    """The agent's state (None: no daemon has run), the jobs, the next one with its time, those that failures have
    stopped, and how many questions about jobs wait."""

    state: AgentState | None
    shelf: Shelf
    next_job: Job | None
    next_at: datetime | None
    stopped: tuple[Job, ...]
    asked: int


def jobs_status(
    workspace: Workspace, goals: frozenset[str] | None = None, notes: Collection[str] | None = None
) -> JobsStatus:
    """Read from files; changes nothing. `goals` has the notes that may be goals, `notes` all notes, if they are
    known."""
    shelf, now = job_shelf(workspace, goals, notes).load(), workspace.clock.now()
    active = [job for job in shelf.jobs if job.status == "active"]
    stopped = tuple(job for job in active if job_record(workspace, job.id).is_stopped)
    times = [(each.at, job.id, job) for job in active if job not in stopped for each in coming(job, now, 1)]
    at, _, following = min(times, default=(None, "", None))
    return JobsStatus(state_of(workspace.vault), shelf, following, at, stopped, _asked(workspace.vault))


def _asked(vault: Vault) -> int:
    """The number of questions about jobs that wait."""
    if not has_records(vault, JOB_APPROVALS):
        return 0
    return len(import_module("agent.runs.job_approvals").pending_job_approvals(vault))


def jobs_status_document(found: JobsStatus) -> dict[str, object]:
    """The same for JSON."""
    state = found.state
    return {
        "state": state.state if state else None,
        "since": state.since.isoformat() if state else None,
        "reason": state.reason if state else None,
        "last_wakeup": state.last_wakeup.isoformat() if state and state.last_wakeup else None,
        "last_sleep": state.last_sleep.isoformat() if state and state.last_sleep else None,
        "tasks_completed_today": state.tasks_completed_today if state else 0,
        "next": {"job": found.next_job.id, "at": found.next_at.isoformat()}
        if found.next_job and found.next_at
        else None,
        "jobs": len(found.shelf.jobs),
        "problems": [problem_document(each) for each in found.shelf.problems],
        "stopped": [each.id for each in found.stopped],
        "asked": found.asked,
    }
