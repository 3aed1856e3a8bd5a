"""The end of a job's run that had waited for its person: its answer is delivered, and it has a row of its own."""

from collections.abc import Mapping

from agent.background.jobs.recording import delivery_of, rows_of, write_result
from agent.errors import AgentError
from agent.loop.outcome import Ended
from agent.loop.records import Began
from agent.loop.session import load_session
from agent.runs.job_run import result_of
from agent.runs.status import ledger_of
from agent.schedule.history import HistoryRow
from agent.schedule.job import Job
from agent.workspace.workspace import Workspace


def job_of(workspace: Workspace, session: str) -> str:
    """The job that the last run of a session belongs to; empty for none."""
    try:
        records = load_session(workspace.vault, session).records
    except AgentError:
        return ""
    return next((each.event.job for each in reversed(records) if isinstance(each.event, Began)), "")


def write_after_wait(workspace: Workspace, jobs: Mapping[str, Job], ended: Ended, machine: str) -> None:
    """Write what came of a run that waited; nothing for a run of no job, or one that waits again.

    Raises what a transaction does.
    """
    job = jobs.get(job_of(workspace, ended.session))
    if job is None or ended.outcome.can_go_on:
        return
    rows = [each for each in rows_of(workspace.vault, job.id) if each.session == ended.session]
    if not rows or rows[-1].outcome != "waits":
        return
    now = workspace.clock.now()
    result = result_of(workspace, ended, ledger_of(workspace).totals_of(ended.run).money)
    row = HistoryRow(
        rows[-1].planned,
        result.outcome,
        rows[-1].started,
        rows[-1].seconds,
        result.reason,
        delivery_of(workspace, job, result, now),
        result.money,
        result.session,
        tuple(each[:8] for each in result.commits),
        machine,
        rows[-1].attempt,
    )
    write_result(workspace, job, row, result)
