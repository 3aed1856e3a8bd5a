"""Builds what runs the jobs of one vault, for the daemon and for a person who runs one by hand."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module

from agent.app.agent import counting, opened_runs
from agent.app.notices import take_in
from agent.background.jobs.once import PendingRun
from agent.background.jobs.recording import Procedures
from agent.background.jobs.worker import JobWorker
from agent.background.model_key import ModelKey, reason_of
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.types import JobEnded
from agent.growth.procedures.procedure import ProcedureResult, call_of_job
from agent.llm.messages import Cancelled, never
from agent.loop.outcome import Ended
from agent.runs.job_run import JobResult
from agent.runs.job_upkeep import job_ledger
from agent.schedule.history import Outcome
from agent.schedule.job import Job
from agent.schedule.occurrences import Occurrence
from agent.vault.change import Request
from agent.vault.sync.turns import Turn
from agent.workspace.machine import open_claims
from agent.workspace.workspace import Workspace


def run_by_hand(workspace: Workspace, job: Job, cancelled: Cancelled = never) -> JobResult:
    """Run a job now, in this process, whatever its status; its person does not have to say yes again.

    Raises `Retryable` if another process or machine runs it now, and what the run raises otherwise is in the result.
    """
    clock = workspace.clock
    worker = JobWorker(
        workspace,
        partial(opened_runs, workspace),
        open_claims(workspace),
        job_ledger(workspace),
        procedures_of(workspace),
        lambda entry, row: None,
        _hand_over,
        _Person(workspace),
        take_in(workspace),
        missing=partial(why_no_model, ModelKey(workspace)),
    )
    at = clock.now().astimezone(job.zone).replace(microsecond=0)
    entry = PendingRun(job, Occurrence(job.id, at), clock.monotonic(), is_approved=True)
    return worker.run_now(entry, cancelled)


def why_no_model(key: ModelKey) -> str:
    """Why no model can be asked, and what helps; empty if one can."""
    missing = key.look()
    return "" if missing is None else reason_of(missing)


def procedures_of(workspace: Workspace) -> Procedures:
    """What does the work of jobs that name a procedure."""
    open_runs = partial(opened_runs, workspace)

    def perform(
        job: Job,
        cancelled: Cancelled,
        also: Callable[[JobResult], Sequence[Request]],
        waited: Ended | None = None,
    ) -> JobResult:
        assert job.task is not None
        call = call_of_job(job, open_runs, workspace.vault.home)
        call = replace(call, cancelled=cancelled, also=lambda result: also(_job_result(result)))
        work = import_module("agent.growth.procedures.run")  # all kinds of work: slow to load
        if waited is not None:
            return _job_result(work.resume_procedure(job.task, call, waited))
        return _job_result(work.run_procedure(job.task, call))

    return perform


def _job_result(result: ProcedureResult) -> JobResult:
    """What a procedure came to, as the result of its job."""
    outcome: Outcome = "done" if result.did_something else "nothing"
    if result.waits_for:
        outcome = "waits"
    elif result.failure:
        outcome = "failed"
    elif result.is_stopped:
        outcome = "interrupted"
    is_done = outcome == "done"
    return JobResult(
        outcome,
        result.text if is_done else "",
        "" if is_done else result.failure or result.text,
        result.run,
        result.session,
        result.is_changed,
        result.money,
        result.waits_for,
        result.strangers,
        result.stands_in if is_done else "",
    )


@dataclass(frozen=True, slots=True)
class _Person:
    """Somebody who runs a job by hand: the agent's own state is not concerned."""

    workspace: Workspace

    def wake(self, reason: str) -> None:
        """Do nothing."""

    def working(self, title: str) -> AbstractContextManager[list[str]]:
        """A list that nobody reads."""
        return nullcontext([])

    def ran(self, job: str, outcome: Outcome) -> None:
        """Count the run."""
        with counting(self.workspace) as publish:
            publish(JobEnded(job, outcome))


def _hand_over(turn: Turn) -> None:
    """Send what was written; if that fails, the daemon does it later."""
    with suppress(AgentError, OSError):
        turn.hand_over()
