"""What has become of a job by its history and the ledger of this machine: its status as it is, and the next try of what
it was to do once and has not done."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from agent.runs.job_upkeep import job_ledger, job_record, job_rows, record_here
from agent.schedule.history import HistoryRow
from agent.schedule.job import Job
from agent.schedule.ledger import OccurrenceLedger
from agent.schedule.next_try import NOT_DONE, NextTry, RetryTimes, last_of, next_try
from agent.schedule.occurrences import Occurrence
from agent.workspace.workspace import Workspace


def next_try_of(
    workspace: Workspace, job: Job, rows: Sequence[HistoryRow], ledger: OccurrenceLedger | None = None
) -> NextTry | None:
    """The next try of what a job with these rows was to do once and has not done; None if there is none. `ledger` is
    that of this machine, where it is open."""
    last = last_of(rows)
    if not job.is_once or job.remind or last is None or last.outcome not in NOT_DONE:
        return None
    key = Occurrence(job.id, last.planned).key
    decided = (each.at for each in (ledger or job_ledger(workspace)).decisions(job.id) if each.key == key)
    ended = next(decided, (last.started or last.planned) + timedelta(seconds=last.seconds))
    return next_try(job, rows, ended, retry_times(workspace))


def retry_times(workspace: Workspace) -> RetryTimes:
    """The settings of when a job of once is tried again."""
    jobs, schedule = workspace.settings.jobs, workspace.settings.schedule
    minutes = tuple(float(each) for each in jobs.retry_minutes.split(",") if each)
    return RetryTimes(minutes, jobs.retry_hour, jobs.retry_days, schedule.days)


def job_as_it_is(workspace: Workspace, job: Job) -> Job:
    """The job; with `status: error` if its failures have stopped it, and `status: ended` if it has run and no time is
    left, which its note does not say."""
    if job.status != "active":
        return job
    record = job_record(workspace, job)
    if record.is_stopped:
        return replace(job, status="error")
    is_over = job.is_once and not job.next_occurrences(workspace.clock.now(), 1)
    has_run = is_over and record_here(workspace, job).last_run_at is not None
    return (
        replace(job, status="ended")
        if has_run and next_try_of(workspace, job, job_rows(workspace.vault, job.id)) is None
        else job
    )
