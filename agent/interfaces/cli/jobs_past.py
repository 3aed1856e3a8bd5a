"""`vault-agent jobs history | log`: what the runs of a job came to, and what they changed."""

from collections.abc import Sequence
from datetime import datetime
from shlex import quote
from typing import TYPE_CHECKING

import click

from agent.app.open import open_workspace
from agent.interfaces.cli import log as changes
from agent.interfaces.cli.jobs_lookup import find_job
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines, padded
from agent.interfaces.cli.time_format import format_time
from agent.lazy import later
from agent.runs.job_upkeep import job_record
from agent.schedule.job_document import past_run_document, record_document

if TYPE_CHECKING:
    from agent.app.past_runs import PastRun, past_runs
else:
    past_runs = later("agent.app.past_runs", "past_runs")


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
        **record_document(record),
        "runs": [past_run_document(each.row, each.is_local) for each in shown],
    }
    lines = [_line(each, now) for each in shown]
    if record.is_stopped:
        stopped = "stopped after {count} failures in a row: vault-agent jobs resume {id}"
        lines.append(said(stopped, count=record.consec_failures, id=quote(job.name)))
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


def _line(run: "PastRun", now: datetime) -> str:
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
