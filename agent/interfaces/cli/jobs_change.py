"""`vault-agent jobs run | pause | resume`: what a person does with a job that exists."""

from typing import TYPE_CHECKING

import click

from agent.app.open import open_workspace
from agent.interfaces.cli.jobs_lookup import find_job
from agent.interfaces.cli.language import said, spoken
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes, progress
from agent.interfaces.cli.printing import as_lines
from agent.lazy import later
from agent.runs.configured_models import has_model
from agent.runs.job_upkeep import DayCost, cost_of_day, set_status
from agent.schedule.history import history_path
from agent.schedule.job import JobStatus
from agent.schedule.trigger_words import often_words
from agent.workspace.daemon_lock import is_watched
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.app.jobs import run_by_hand
    from agent.runs.job_run import JobResult
else:
    run_by_hand = later("agent.app.jobs", "run_by_hand")


@click.command("run", short_help="Run a job now, here.", epilog=exit_codes("the run failed"))
@click.argument("name", metavar="ID")
@click.pass_obj
def run(output: Output, name: str) -> None:
    """Run a job once now, in this terminal, also one that is paused or asks for a yes. It is in the job's history."""
    workspace = open_workspace(output.vault())
    job = find_job(workspace, name)
    progress("running …")
    result = run_by_hand(workspace, job)
    document = {
        "job": job.id,
        "outcome": result.outcome,
        "answer": result.text,
        "reason": result.reason or None,
        "session": result.session or None,
        "waits_for": result.waits_for or None,
        "money": round(result.money, 6),
        "history": history_path(workspace.vault.home, job.id),
    }
    output.emit(document, lambda: as_lines(_format_result(result)))
    if result.outcome == "failed":
        raise CheckFailed


def _format_result(result: "JobResult") -> list[str]:
    lines = [result.text] if result.text else []
    lines.append(said("{outcome}: {reason}", outcome=said(result.outcome), reason=result.reason)
                 if result.reason else said(result.outcome))  # fmt: skip
    return lines + ([said("it waits for you in {path}", path=result.waits_for)] if result.waits_for else [])


@click.command("pause", short_help="Let a job run no more.")
@click.argument("name", metavar="ID")
@click.pass_obj
def pause(output: Output, name: str) -> None:
    """Set `status: paused` in the note of a job; nothing else of it changes."""
    workspace = open_workspace(output.vault())
    _set(output, workspace, name, "paused")


@click.command("resume", short_help="Let a job run again; says what a day of it costs.")
@click.argument("name", metavar="ID")
@click.pass_obj
def resume(output: Output, name: str) -> None:
    """Set `status: active` in the note of a job. One that its failures have stopped runs again, too."""
    workspace = open_workspace(output.vault())
    _set(output, workspace, name, "active")


def _set(output: Output, workspace: Workspace, name: str, status: JobStatus) -> None:
    job = find_job(workspace, name)
    outcome = set_status(workspace, job, status)
    lines = [said("waits until git has finished what it is doing")] if outcome.queued else []
    lines += [said("{id} is {status}", id=job.name, status=said(status))]
    document: dict[str, object] = {"job": job.id, "status": status, "commit": outcome.commit}
    if status == "active":
        cost = cost_of_day(workspace, job, has_model(workspace))
        document["a_day"] = {"runs": round(cost.times, 2), "money": cost.money if cost.is_free else _money(cost)}
        lines.append(format_cost(cost))
        lines += [] if is_watched(workspace) else [said("no daemon runs here: vault-agent daemon")]
    output.emit(document, as_lines(lines))


def format_cost(cost: DayCost) -> str:
    """What a day costs, in one line."""
    often = often_words(cost.times, spoken()) if cost.times else said("no fixed time")
    times = said("once") if cost.is_once else often
    if cost.is_free:
        return said("{times}; no model: nothing to pay", times=times)
    if cost.money is None:
        return said("{times}; what a run costs is known after the first one", times=times)
    return said("{times}; about ${money:.4f} a day, by its runs so far", times=times, money=_money(cost))


def _money(cost: DayCost) -> float | None:
    return None if cost.money is None else round(cost.money * cost.times, 6)
