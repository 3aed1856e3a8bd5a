"""Failed runs that are to be tried again, and whose daemon ended before: the history has all that is needed."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from agent.background.jobs.once import PendingRun
from agent.runs.job_upkeep import job_rows
from agent.schedule.history import RAN
from agent.schedule.job import Job
from agent.schedule.occurrences import Occurrence
from agent.schedule.triggers import ChangeTrigger
from agent.workspace.workspace import Workspace

LATEST = timedelta(hours=1)
"""How late a run is still tried again."""


def retries(workspace: Workspace, jobs: Iterable[Job], machine: str) -> Iterator[PendingRun]:
    """The last runs of these jobs that failed on this machine and have attempts left. One that changed notes have
    started is not among them: which notes, only the process that has ended knew; nor a job of once, which `once` has
    run again."""
    now, here = workspace.clock.now(), workspace.clock.monotonic()
    for job in jobs:
        has_change = any(isinstance(each, ChangeTrigger) for each in job.triggers)
        if job.status != "active" or not job.retry.most or has_change or job.is_once:
            continue
        last = next((row for row in reversed(job_rows(workspace.vault, job.id)) if row.outcome in RAN), None)
        if last is None or last.outcome != "failed" or last.machine != machine or last.attempt > job.retry.most:
            continue
        ended = (last.started or last.planned) + timedelta(seconds=last.seconds)
        wait = (ended + timedelta(seconds=job.retry.seconds_after(last.attempt)) - now).total_seconds()
        if wait > -LATEST.total_seconds():
            occurrence = Occurrence(job.id, last.planned.astimezone(job.zone))
            stands_for, due, attempt = max(1, last.missed), here + max(0.0, wait), last.attempt + 1
            # a job that asks first had its yes before the run that failed
            yield PendingRun(job, occurrence, here, stands_for, due, attempt, is_approved=job.approval_required)
