"""The end of a job's run that had waited for its person: its answer is delivered, and it has a row of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agent.background.failures import failure_text
from agent.background.jobs.recording import (
    Notify,
    Procedures,
    delivery_of,
    delivery_requests,
    is_written,
    notify_answer,
    row_requests,
    rows_of,
    write_result,
)
from agent.dataclass import dataclass
from agent.errors import AgentError, Retryable
from agent.llm.messages import never
from agent.loop.outcome import Ended
from agent.loop.records import Began
from agent.loop.session import load_session
from agent.runs.job_run import JobResult, result_of
from agent.runs.status import ledger_of
from agent.schedule.history import HistoryRow, Outcome
from agent.schedule.job import Job
from agent.vault.change import Request
from agent.workspace.workspace import Workspace


def job_of(workspace: Workspace, session: str) -> str:
    """The job that the last run of a session belongs to; empty for none."""
    try:
        records = load_session(workspace.vault, session).records
    except AgentError:
        return ""
    return next((each.event.job for each in reversed(records) if isinstance(each.event, Began)), "")


def write_after_wait(
    workspace: Workspace,
    jobs: Mapping[str, Job],
    ended: Ended,
    machine: str,
    procedures: Procedures,
    notify: Notify,
    ran: Callable[[str, Outcome], object],
) -> None:
    """Write what came of a run that waited, and tell `ran`; nothing for a run of no job, or one that waits again. The
    answer of a run of a procedure goes where the procedure puts it.

    Raises what a transaction does.
    """
    job = jobs.get(job_of(workspace, ended.session))
    if job is None or ended.outcome.can_go_on:
        return
    rows = [each for each in rows_of(workspace.vault, job.id) if each.session == ended.session]
    if not rows or rows[-1].outcome != "waits":
        return
    after = _AfterWait(workspace, job, rows[-1], machine, ledger_of(workspace).totals_of(ended.run).money)
    result = result_of(workspace, ended, after.money) if job.task is None else after.perform(procedures, ended)
    row = after.row(result)
    notify_answer(notify, job, row.planned, result)
    if not is_written(rows_of(workspace.vault, job.id), row):
        write_result(workspace, job, row, result)
    ran(job.id, result.outcome)


@dataclass(frozen=True, slots=True)
class _AfterWait:
    """A run of a job that had waited, as the row `waited` of its history says; it has cost `money`."""

    workspace: Workspace
    job: Job
    waited: HistoryRow
    machine: str
    money: float

    def perform(self, procedures: Procedures, ended: Ended) -> JobResult:
        """Do what the procedure has to do after its run; raises `Retryable`, and what else goes wrong is a result."""
        try:
            return procedures(self.job, never, self._also, ended)
        except Retryable:
            raise
        except (AgentError, OSError) as error:
            return JobResult("failed", reason=failure_text(error), run=ended.run, session=ended.session)

    def row(self, result: JobResult) -> HistoryRow:
        """The row of the job's history about the end."""
        return replace(
            self.waited,
            outcome=result.outcome,
            reason=result.reason,
            delivery=delivery_of(self.workspace, self.job, result, self.workspace.clock.now()),
            money=self.money,
            session=result.session,
            is_changed=result.is_changed,
            machine=self.machine,
        )

    def _also(self, result: JobResult) -> Sequence[Request]:
        """The row and the answer, for the commit that a procedure makes."""
        if result.outcome != "done":
            return ()
        rows = row_requests(self.workspace, {self.job.id: (self.job, [self.row(result)])})
        planned, now = self.waited.planned, self.workspace.clock.now()
        return (*rows, *delivery_requests(self.workspace, self.job, planned, result, now))
