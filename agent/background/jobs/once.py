"""Jobs whose run is tried again: those of once that were not done, and failed ones whose daemon ended before."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import field
from datetime import datetime, timedelta

from agent.dataclass import dataclass
from agent.memory import daily
from agent.runs.job_run import JobResult
from agent.runs.job_upkeep import job_rows, next_try_of, retry_times
from agent.schedule.history import RAN, HistoryRow
from agent.schedule.job import Job
from agent.schedule.ledger import OccurrenceLedger
from agent.schedule.next_try import NOT_DONE, NextTry, last_of, next_try
from agent.schedule.occurrences import Occurrence
from agent.schedule.triggers import ChangeTrigger
from agent.texts import text
from agent.vault.change import Append, Request
from agent.vault.sync.turns import Turn
from agent.workspace.workspace import Workspace


@dataclass(slots=True)
class PendingRun:
    """One occurrence. `due` is the monotonic time of the next try, `since` that when it came up.

    `attempt` counts the runs, `tries` the times that it was not this machine's turn. `is_approved`: its person has said
    yes. `ended` is what a run came to and its row, until that is written. `is_over`: nothing is left to do.
    `is_triggered`: a change of the notes at `paths`, or an event, starts it.
    """

    job: Job
    occurrence: Occurrence
    since: float
    stands_for: int = 1
    due: float = 0.0
    attempt: int = 1
    tries: int = 0
    is_approved: bool = False
    is_over: bool = False
    ended: tuple[JobResult, HistoryRow] | None = None
    turn: Turn | None = None
    waits_for_turn: str = ""
    paths: tuple[str, ...] = ()
    is_triggered: bool = False
    work: "Future[None] | None" = None
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def is_running(self) -> bool:
        """True while the pool has its work."""
        return self.work is not None and not self.work.done()

    @property
    def is_waiting(self) -> bool:
        """True if a change or an event starts it, and it has not begun."""
        is_new = self.attempt == 1 and self.ended is None and not self.is_over
        return self.is_triggered and is_new and self.work is None

    @property
    def waits_to_begin(self) -> bool:
        """True if it has not begun, as another machine has the turn, or nobody knows whether one has."""
        return bool(self.waits_for_turn) and self.attempt == 1 and self.ended is None and not self.is_over

    @property
    def missed(self) -> int:
        """The number of occurrences that its row stands for, 0 for itself only."""
        return self.stands_for if self.stands_for > 1 else 0


@dataclass(slots=True)
class OnceTries:
    """The next tries of jobs of once on this machine."""

    workspace: Workspace
    ledger: OccurrenceLedger
    _next: tuple[tuple[Job, NextTry], ...] = field(default=(), init=False)

    def set_jobs(self, jobs: Iterable[Job], machine: str) -> None:
        """The jobs as they are now; what another machine has tried, it tries again."""
        once = [job for job in jobs if job.is_once and job.status == "active"]
        found = ((job, self._next_try(job, machine)) for job in once)
        self._next = tuple((job, each) for job, each in found if each is not None)

    def due(self, now: datetime, here: float, busy: Iterable[str]) -> Iterator[PendingRun]:
        """The runs whose time has come, at `now` and at `here` of the monotonic clock, without those of `busy` jobs. A
        job that asks first had its yes before the run that failed, if one has begun."""
        there = frozenset(busy)
        for job, each in self._next:
            if each.at <= now and job.id not in there:
                is_approved = job.approval_required and self._has_begun(job, each)
                occurrence = Occurrence(job.id, each.planned.astimezone(job.zone))
                yield PendingRun(job, occurrence, here, attempt=each.attempt, is_approved=is_approved)

    def _next_try(self, job: Job, machine: str) -> NextTry | None:
        last = last_of(rows := job_rows(self.workspace.vault, job.id))
        is_own = last is not None and last.machine == machine
        return next_try_of(self.workspace, job, rows, self.ledger) if is_own else None

    def _has_begun(self, job: Job, again: NextTry) -> bool:
        rows = job_rows(self.workspace.vault, job.id)
        return any(row.started for row in rows if row.planned.timestamp() == again.planned.timestamp())


def not_done_requests(workspace: Workspace, rows: Mapping[str, tuple[Job, Sequence[HistoryRow]]]) -> Iterator[Request]:
    """The sections of the day's note about jobs of once that were not done; of those that are tried again in some
    minutes only after the first try."""
    now = workspace.clock.now()
    path = workspace.vault.home.day_note(now.date())
    for job, added in rows.values():
        quick = job.retry.most or len(retry_times(workspace).minutes)
        for row in (each.in_language(workspace.settings.vault.language) for each in added):
            is_worth_a_word = row.attempt == 1 or row.attempt > quick
            is_owed = job.is_once and not job.remind and row.outcome in NOT_DONE
            if is_owed and is_worth_a_word and row not in job_rows(workspace.vault, job.id):
                block = _section(workspace, job, row, now).encode("utf-8", "replace")
                yield Append(path, block, daily.beginning(workspace.vault, now.date()))


def _section(workspace: Workspace, job: Job, row: HistoryRow, now: datetime) -> str:
    language = workspace.settings.vault.language
    again = next_try(job, (*job_rows(workspace.vault, job.id), row), now, retry_times(workspace))
    title, reason = daily.inert(" ".join(job.title.split())), daily.inert(row.reason or "-")
    sentence = text("jobs.not_done", language, at=f"{row.planned:%Y-%m-%d %H:%M}", reason=reason)
    if again is not None:
        sentence += " " + text("jobs.tried_again", language, at=f"{again.at:%Y-%m-%d %H:%M}")
    else:
        sentence += " " + text("jobs.given_up", language, id=job.id)
    link = f"[[{job.path.removesuffix('.md')}]]"
    return f"\n## {title} ({now:%H:%M})\n\n{sentence}\n\n{link}\n"


LATEST = timedelta(hours=1)
"""How late a run is still tried again."""


def _may_retry(job: Job) -> bool:
    has_change = any(isinstance(each, ChangeTrigger) for each in job.triggers)
    return job.status == "active" and job.retry.most > 0 and not (has_change or job.is_once)


def retries(workspace: Workspace, jobs: Iterable[Job], machine: str) -> Iterator[PendingRun]:
    """The last runs of these jobs that failed on this machine and have attempts left. One that changed notes have
    started is not among them: which notes, only the process that has ended knew; nor a job of once, which `once` has
    run again."""
    now, here = workspace.clock.now(), workspace.clock.monotonic()
    for job in jobs:
        if not _may_retry(job):
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
