"""One run of an occurrence, from its begin in the ledger to its result."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from agent.background.failures import failure_text
from agent.background.jobs.once import PendingRun
from agent.background.jobs.recording import delivery_of, delivery_requests, row_requests
from agent.background.resume import OpenRuns
from agent.clock import in_machine_seconds
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.llm.messages import Cancelled
from agent.loop.outcome import Ended
from agent.runs.job_run import JobResult, run_job
from agent.runs.run_io import RunIO
from agent.schedule.history import HistoryRow
from agent.schedule.job import Job
from agent.texts import text
from agent.vault.change import Request
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


class Procedures(Protocol):
    """Does the work of a job that names a procedure. `also` gives the requests that go into the same commit. `waited`
    is the end of a run of it that had waited for its person: then only what is left to be done after that run."""

    def __call__(
        self,
        job: Job,
        cancelled: Cancelled,
        also: Callable[[JobResult], Sequence[Request]],
        waited: Ended | None = None,
        /,
    ) -> JobResult: ...


@dataclass(frozen=True, slots=True)
class JobAttempt:
    """A run that begins now. `machine` is this one's name; `cancelled` says whether to stop."""

    workspace: Workspace
    entry: PendingRun
    machine: str
    started: datetime
    since: float
    cancelled: Cancelled

    @property
    def seconds(self) -> float:
        """The machine's seconds since the begin: a clock that was set lets no run take longer."""
        return in_machine_seconds(self.workspace.clock).monotonic() - self.since

    @property
    def longest(self) -> float:
        """The most seconds that the run may take."""
        return longest_run(self.workspace, self.entry.job)

    def perform(self, open_runs: OpenRuns, procedures: Procedures) -> tuple[JobResult, HistoryRow]:
        """Run the job once; whatever goes wrong is in the result."""
        try:
            result = self._result(open_runs, procedures)
        except Exception as error:  # a bug in one run must not end the daemon's others, nor go unseen
            if not isinstance(error, AgentError | OSError):
                logger.warning("the job %s failed", self.entry.job.id, exc_info=True)
            result = JobResult("failed", reason=failure_text(error))
        language = self.workspace.settings.vault.language
        if result.outcome == "interrupted" and self.seconds >= self.longest:
            reason = text("jobs.too_long", language, seconds=round(self.longest))
            result = replace(result, outcome="failed", text="", reason=reason)
        elif result.outcome == "interrupted" and not result.reason:
            result = replace(result, reason=text("jobs.was_stopped", language))
        return result, self.row(result)

    def row(self, result: JobResult) -> HistoryRow:
        """The row of the job's history about this run."""
        entry = self.entry
        return HistoryRow(
            entry.occurrence.at,
            result.outcome,
            self.started,
            self.seconds,
            result.reason,
            delivery_of(self.workspace, entry.job, result, self.workspace.clock.now()),
            result.money,
            result.session,
            tuple(each[:8] for each in result.commits),
            self.machine,
            entry.attempt,
            entry.missed,
        )

    def _result(self, open_runs: OpenRuns, procedures: Procedures) -> JobResult:
        job = self.entry.job
        if job.task is not None:
            return procedures(job, self._is_stopped, self._also)
        with open_runs() as runs:
            return run_job(runs, job, RunIO(cancelled=self._is_stopped), self.entry.paths)

    def _is_stopped(self) -> bool:
        return self.cancelled() or self.entry.cancelled.is_set() or self._is_lost or self.seconds >= self.longest

    @property
    def _is_lost(self) -> bool:
        """True if another machine has taken the job over."""
        return self.entry.turn is not None and self.entry.turn.is_lost()

    def _also(self, result: JobResult) -> Sequence[Request]:
        """The row and the answer, for the commit that a procedure makes."""
        if result.outcome != "done" or self._is_lost:
            return ()
        job, now = self.entry.job, self.workspace.clock.now()
        rows = row_requests(self.workspace, {job.id: (job, [self.row(result)])})
        return (*rows, *delivery_requests(self.workspace, job, self.entry.occurrence.at, result, now))


def longest_run(workspace: Workspace, job: Job) -> float:
    """The most seconds that a run of this job may take."""
    return job.timeout or workspace.settings.schedule.work_minutes * 60
