"""What was to be done once and was not, as its person has to hear of it: reminders that wait, and jobs of once."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from agent.dataclass import dataclass
from agent.runs.job_state import next_try_of
from agent.runs.job_upkeep import job_ledger, job_rows, job_shelf
from agent.schedule.history import Outcome
from agent.schedule.job import Job
from agent.schedule.next_try import NOT_DONE, OWED, last_of
from agent.schedule.occurrences import Occurrence, next_times
from agent.texts import Sentence
from agent.workspace.workspace import Workspace

GRACE = timedelta(minutes=2)
"""How late what is due may be before somebody is told: a daemon that runs takes seconds."""
_NOT_RUN = Sentence("it has not run yet")
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class OwedJob:
    """A job whose occurrence at `planned` is not done, and why; `again` is when it is tried next (None: not by itself,
    or when a daemon runs)."""

    job: Job
    planned: datetime
    outcome: Outcome
    reason: str
    again: datetime | None = None


def owed_jobs(workspace: Workspace, jobs: Iterable[Job]) -> tuple[OwedJob, ...]:
    """What active jobs of once owe now, the oldest first; what is not tried again any more is left out after a week."""
    found = (each for job in jobs if job.is_once and job.status == "active" for each in _owed(workspace, job))
    return tuple(sorted(found, key=lambda each: each.planned.timestamp()))


def owed_now(workspace: Workspace) -> tuple[OwedJob, ...]:
    """What the jobs of a vault owe now."""
    return owed_jobs(workspace, job_shelf(workspace).load().jobs)


def _owed(workspace: Workspace, job: Job) -> Iterator[OwedJob]:
    now, rows = workspace.clock.now(), job_rows(workspace.vault, job.id)
    last = last_of(rows)
    if last is not None and last.outcome in NOT_DONE and not job.remind:
        again = next_try_of(workspace, job, rows)
        if again is not None or now - (last.started or last.planned) <= OWED:
            yield OwedJob(job, last.planned, last.outcome, last.reason, again.at if again else None)
    known = {row.planned.timestamp() for row in rows}
    begin = last.planned if last is not None else datetime.fromtimestamp(0, job.zone)
    over = [at for at in _moments(job, begin) if at.timestamp() not in known and now - at > GRACE]
    if not over or (not job.remind and now - over[-1] > OWED):
        return
    ledger = job_ledger(workspace)
    yield from (OwedJob(job, at, "missed", _NOT_RUN) for at in over if not ledger.has(Occurrence(job.id, at).key))


def _moments(job: Job, after: datetime) -> Iterator[datetime]:
    """The moments of a job of once after another one."""
    return next_times(job.triggers, job.zone, after - _DAY, job.created)
