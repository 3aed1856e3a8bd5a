"""`vault-agent jobs history | log`: what the runs of a job came to, and what they changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import click

from agent.app.jobs import job_ledger
from agent.app.open import open_workspace
from agent.interfaces.cli import log as changes
from agent.interfaces.cli.jobs_lookup import find_job
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines, padded
from agent.interfaces.cli.time_format import format_time
from agent.runs.job_upkeep import job_record, job_rows
from agent.schedule.history import HistoryRow
from agent.schedule.job import Job
from agent.schedule.ledger import split_key
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class PastRun:
    """A row of the history, or what only this machine's ledger has (`is_local`)."""

    row: HistoryRow
    is_local: bool = False


@click.command("history", short_help="List the runs of a job, and what did not run.")
@click.argument("name", metavar="ID")
@click.option("-n", "count", type=click.IntRange(0), default=20, show_default=True, help="How many; 0 for all.")
@click.pass_obj
def history(output: Output, name: str, count: int) -> None:
    """List the runs of a job, the newest last, with those that found nothing to do and stay on this machine."""
    workspace = open_workspace(output.vault())
    job, now = find_job(workspace, name), workspace.clock.now()
    found, record = past_runs(workspace, job), job_record(workspace, job.id)
    shown = found[-count:] if count else found
    document = {
        "job": job.id,
        "last_run_at": record.last_run_at.isoformat() if record.last_run_at else None,
        "last_run_status": record.last_run_status,
        "consec_failures": record.consec_failures,
        "stopped": record.is_stopped,
        "runs": [_document(each) for each in shown],
    }
    lines = [_line(each, now) for each in shown]
    if record.is_stopped:
        stopped = "stopped after {count} failures in a row: vault-agent jobs resume {id}"
        lines.append(said(stopped, count=record.consec_failures, id=job.id))
    output.emit(document, as_lines(lines) or said("it has not run yet"))


@click.command("log", short_help="List what a job has changed.")
@click.argument("name", metavar="ID")
@click.option("-n", "count", type=click.IntRange(0), default=10, show_default=True, help="How many; 0 for all.")
@click.pass_context
def log(ctx: click.Context, name: str, count: int) -> None:
    """List the commits of a job, as `vault-agent log --job` does."""
    output: Output = ctx.obj
    job = find_job(open_workspace(output.vault()), name)
    ctx.invoke(changes.command, path=None, actor=None, run=None, job=job.id, since=None, until=None, count=count)


def past_runs(workspace: Workspace, job: Job) -> tuple[PastRun, ...]:
    """The rows of a job's history and, for what has no row, the decisions on this machine; by time."""
    rows = job_rows(workspace.vault, job.id)
    there = {int(row.planned.timestamp()) for row in rows}
    local = [_of_ledger(job, each.key, each.outcome, each.reason, each.began)
             for each in job_ledger(workspace).decisions(job.id) if split_key(each.key)[1] not in there]  # fmt: skip
    found = [*(PastRun(row) for row in rows), *(PastRun(each, True) for each in local if each is not None)]
    return tuple(sorted(found, key=lambda each: (each.row.planned.timestamp(), each.row.attempt)))


def _of_ledger(job: Job, key: str, outcome: str, reason: str, began: datetime | None) -> HistoryRow | None:
    at = datetime.fromtimestamp(split_key(key)[1], job.zone)
    match outcome:
        case "nothing" | "missed" | "skipped" | "interrupted" | "done" | "failed" | "waits":
            return HistoryRow(at, outcome, began, reason=reason)
        case _:
            return None


def _line(run: PastRun, now: datetime) -> str:
    row = run.row
    parts: Sequence[str] = (
        padded(said(row.outcome), 11),
        said("{seconds:.0f} s", seconds=row.seconds) if row.started and not run.is_local else "",
        f"${row.money:.4f}" if row.money else "",
        said("stands for {count}", count=row.missed) if row.missed else "",
        said("attempt {number}", number=row.attempt) if row.attempt > 1 else "",
        row.reason,
        row.delivery,
        row.session,
        said("on this machine only") if run.is_local else "",
    )
    return f"{format_time(row.planned, now)}  " + "  ".join(filter(None, parts))


def _document(run: PastRun) -> dict[str, object]:
    row = run.row
    return {
        "planned": row.planned.isoformat(),
        "outcome": row.outcome,
        "started": row.started.isoformat() if row.started else None,
        "seconds": row.seconds,
        "reason": row.reason or None,
        "delivery": row.delivery or None,
        "money": row.money,
        "session": row.session or None,
        "commits": list(row.commits),
        "machine": row.machine or None,
        "attempt": row.attempt,
        "missed": row.missed,
        "local": run.is_local,
    }
