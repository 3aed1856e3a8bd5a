"""Jobs of once that were not done: they are tried again, and the day's note says so each time its person should look.

What is to be tried, and when, follows from the history and the ledger on disk: a restart changes nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime

from agent.background.jobs.pending import PendingRun
from agent.dataclass import dataclass
from agent.memory import daily
from agent.runs.job_state import next_try_of, retry_times
from agent.runs.job_upkeep import job_rows
from agent.schedule.history import HistoryRow
from agent.schedule.job import Job
from agent.schedule.ledger import OccurrenceLedger
from agent.schedule.next_try import NOT_DONE, NextTry, last_of, next_try
from agent.schedule.occurrences import Occurrence
from agent.texts import text
from agent.vault.change import Append, Request
from agent.workspace.workspace import Workspace


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
        for row in added:
            is_worth_a_word = row.attempt == 1 or row.attempt > quick
            is_owed = job.is_once and not job.remind and row.outcome in NOT_DONE
            if is_owed and is_worth_a_word and row not in job_rows(workspace.vault, job.id):
                block = _section(workspace, job, row, now).encode("utf-8", "replace")
                yield Append(path, block, daily.beginning(workspace.vault, now.date()))


def _section(workspace: Workspace, job: Job, row: HistoryRow, now: datetime) -> str:
    language = workspace.settings.vault.language
    again = next_try(job, (*job_rows(workspace.vault, job.id), row), now, retry_times(workspace))
    title, reason = daily.inert(" ".join(job.title.split())), daily.inert(row.reason or "-")
    told = text("jobs.not_done", language, at=f"{row.planned:%Y-%m-%d %H:%M}", reason=reason)
    if again is not None:
        told += " " + text("jobs.tried_again", language, at=f"{again.at:%Y-%m-%d %H:%M}")
    else:
        told += " " + text("jobs.given_up", language, id=job.id)
    link = f"[[{job.path.removesuffix('.md')}]]"
    return f"\n## {title} ({now:%H:%M})\n\n{told}\n\n{link}\n"
