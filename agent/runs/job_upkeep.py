"""What a person does with a job that exists: pause it, let it run again, and see what became of it or is still owed."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.lazy import later
from agent.markdown.note import Note
from agent.schedule import history
from agent.schedule.history import HistoryRow, JobRecord, history_path, parse_history, record_of, with_rows
from agent.schedule.job import Job, JobStatus
from agent.schedule.ledger import OccurrenceLedger
from agent.schedule.next_try import NOT_DONE, OWED, NextTry, RetryTimes, last_of, next_try
from agent.schedule.occurrences import Occurrence, next_times
from agent.schedule.shelf import GOAL_TYPE, GoalNotes, JobShelf
from agent.texts import Sentence
from agent.vault.change import Outcome, Stamp
from agent.vault.listing import contents
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace, load_daemon_state

if TYPE_CHECKING:
    from agent.schedule.ledger import OccurrenceLedger, split_key
    from agent.workspace.catch_up import daemon_lag
    from agent.workspace.index_status import index_place, index_state, may_have_type
else:
    OccurrenceLedger = later("agent.schedule.ledger", "OccurrenceLedger")
    split_key = later("agent.schedule.ledger", "split_key")
    daemon_lag = later("agent.workspace.catch_up", "daemon_lag")
    index_place = later("agent.workspace.index_status", "index_place")
    index_state = later("agent.workspace.index_status", "index_state")
    may_have_type = later("agent.workspace.index_status", "may_have_type")


_WEEK = timedelta(days=7)
_MOST = 20_000
"""The most occurrences of a week that are counted: one a minute is 10,080."""


@dataclass(frozen=True, slots=True)
class DayCost:
    """The cost of a job in a day: `times` runs, each `money` in US dollars (None: none has run yet, or no price is
    known). `is_free`: it asks no model. `is_once`: all its times are single ones."""

    times: float
    money: float | None = None
    is_free: bool = False
    is_once: bool = False


def job_shelf(
    workspace: Workspace, goals: frozenset[str] | None = None, notes: Collection[str] | None = None
) -> JobShelf:
    """All jobs of a vault, those of goals among them; `goals` has the notes that may be goals, `notes` all notes, if
    they are known."""
    among = partial(_may_be_goals, workspace) if goals is None else lambda: goals
    return JobShelf(workspace.vault, GoalNotes(workspace.vault, workspace.settings.vault.language, among), notes)


def _may_be_goals(workspace: Workspace) -> frozenset[str] | None:
    """The notes that may be goals by the index, and those that it does not have as they are now; None if it cannot
    say. Git's search through 100,000 notes takes a second and more, and its list of them a third of one."""
    daemon = load_daemon_state(workspace)
    if daemon is not None and daemon_lag(daemon) is None:
        with closing(index_place(workspace)) as place:
            return may_have_type(place, GOAL_TYPE)
    return index_state(workspace, partial(contents, workspace.vault), GOAL_TYPE).of_type


def job_record(workspace: Workspace, job: Job) -> JobRecord:
    """The verdict on the history of a job. A reminder is never stopped."""
    return _record_of(workspace, job, job_rows(workspace.vault, job.id))


def record_here(workspace: Workspace, job: Job) -> JobRecord:
    """The same, with the runs that found nothing: only the ledger of this machine has them."""
    decided = (each for each in job_ledger(workspace).decisions(job.id) if each.outcome == "nothing")
    quiet = [HistoryRow(datetime.fromtimestamp(split_key(each.key)[1], job.zone), "nothing", each.began)
             for each in decided]  # fmt: skip
    return _record_of(workspace, job, (*job_rows(workspace.vault, job.id), *quiet))


def job_ledger(workspace: Workspace) -> "OccurrenceLedger":
    """The ledger of this machine; raises `Permanent` if it cannot be read."""
    return OccurrenceLedger(workspace.vault.records)


def _record_of(workspace: Workspace, job: Job, rows: Sequence[HistoryRow]) -> JobRecord:
    found = record_of(rows, workspace.settings.jobs.max_consecutive_failures)
    return replace(found, is_stopped=found.is_stopped and not job.remind)


def job_rows(vault: Vault, job: str) -> tuple[HistoryRow, ...]:
    """The rows of a job's history, as far as its person counts them."""
    return parse_history(vault.own_version(history_path(vault.home, job)) or b"")


def cost_of_day(workspace: Workspace, job: Job, has_model: bool) -> DayCost:
    """The cost of a job in a day, by the mean of its runs so far."""
    now = workspace.clock.now()
    coming = [each for each in job.next_occurrences(now, _MOST) if each.at - now < _WEEK]
    times = sum(map(job.has_day_of, coming)) / _WEEK.days
    is_once = job.is_once
    if job.only_wakes or job.remind or not has_model:
        return DayCost(times, 0.0, True, is_once)
    paid = [row.money for row in job_rows(workspace.vault, job.id) if row.outcome == "done" and row.session]
    return DayCost(times, sum(paid) / len(paid) if any(paid) else None, is_once=is_once)


def set_status(workspace: Workspace, job: Job, status: JobStatus) -> Outcome:
    """Change the status in the job's note, and nothing else of it; one that failures have stopped counts as resumed.

    Raises `NoteGone`, and what a transaction does.
    """
    vault, now = workspace.vault, workspace.clock.now()
    data = vault.read(job.path)
    if data is None:
        raise NoteGone("{path} is gone", hint="vault-agent log shows what was moved or deleted", path=job.path)
    verb = "pause" if status == "paused" else "resume"
    message = import_module("agent.vault.message")  # with the forms of all secrets: most only look
    with vault.transaction(f"job({verb}): {message.one_line(job.name)}", Stamp("human")) as change:
        if job.status != status:
            change.edit(job.path, data, Note.parse(data).with_key("status", status).data)
        if status == "active" and job_record(workspace, job).consec_failures:
            path = history_path(vault.home, job.id)
            before = vault.read(path)
            row = HistoryRow(now.astimezone(job.zone).replace(microsecond=0), "resumed")
            after = with_rows(before, job, [row], workspace.settings.vault.language)
            change.write(path, before, after)
    return change.outcome


def next_try_of(
    workspace: Workspace, job: Job, rows: Sequence[HistoryRow], ledger: "OccurrenceLedger | None" = None
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
    outcome: history.Outcome
    reason: str
    again: datetime | None = None


def owed_jobs(workspace: Workspace, jobs: Iterable[Job]) -> tuple[OwedJob, ...]:
    """The missed runs of active jobs of once, the oldest first; what is not tried again any more is left out after a
    week."""
    found = (each for job in jobs if job.is_once and job.status == "active" for each in _owed(workspace, job))
    return tuple(sorted(found, key=lambda each: each.planned.timestamp()))


def owed_now(workspace: Workspace) -> tuple[OwedJob, ...]:
    """The missed runs of the jobs of a vault."""
    return owed_jobs(workspace, job_shelf(workspace).load().jobs)


def _not_done(workspace: Workspace, job: Job, last: HistoryRow, rows: Sequence[HistoryRow]) -> Iterator[OwedJob]:
    """The last run of a job that was not done, if it is tried again or was begun a short time ago."""
    again = next_try_of(workspace, job, rows)
    if again is not None or workspace.clock.now() - (last.started or last.planned) <= OWED:
        yield OwedJob(job, last.planned, last.outcome, last.reason, again.at if again else None)


def _owed(workspace: Workspace, job: Job) -> Iterator[OwedJob]:
    rows = job_rows(workspace.vault, job.id)
    last = last_of(rows)
    if last is not None and last.outcome in NOT_DONE and not job.remind:
        yield from _not_done(workspace, job, last, rows)
    yield from _missed(workspace, job, last, rows)


def _missed(workspace: Workspace, job: Job, last: HistoryRow | None, rows: Sequence[HistoryRow]) -> Iterator[OwedJob]:
    """The moments of a job after its last run that are over, and at which it did not run."""
    now, known = workspace.clock.now(), {row.planned.timestamp() for row in rows}
    begin = last.planned if last is not None else datetime.fromtimestamp(0, job.zone)
    over = [at for at in _moments(job, begin) if at.timestamp() not in known and now - at > GRACE]
    if not over or (not job.remind and now - over[-1] > OWED):
        return
    ledger = job_ledger(workspace)
    yield from (OwedJob(job, at, "missed", _NOT_RUN) for at in over if not ledger.has(Occurrence(job.id, at).key))


def _moments(job: Job, after: datetime) -> Iterator[datetime]:
    """The moments of a job of once after another one."""
    return next_times(job.triggers, job.zone, after - _DAY, job.created)
