"""`vault-agent jobs`: lists, shows, makes, runs, switches and looks back at what the agent does at its time."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from shlex import quote
from typing import TYPE_CHECKING

import click

from agent.app.open import open_workspace
from agent.deeds import jobs as deeds
from agent.errors import UserError
from agent.interfaces.cli.changes import log as log_command
from agent.interfaces.cli.declare import group, in_vault, words_argument
from agent.interfaces.cli.job_texts import format_job, format_list, format_settings, format_when, warning_lines
from agent.interfaces.cli.language import spoken, tr
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes, progress
from agent.interfaces.cli.printing import as_lines, padded, show
from agent.interfaces.cli.prompt import confirm
from agent.interfaces.cli.time_format import format_time
from agent.lazy import later
from agent.markdown.note import Note
from agent.runs.configured_models import has_model
from agent.runs.job_upkeep import DayCost, cost_of_day, job_as_it_is, job_shelf, record_here
from agent.schedule.history import history_path
from agent.schedule.job import DAILY_CHANNEL, Job
from agent.schedule.occurrences import moment_in
from agent.schedule.task_notes import load_tasks
from agent.schedule.trigger_words import often_words
from agent.texts import translated
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace, is_watched

if TYPE_CHECKING:
    from agent.app.channels import not_set_up
    from agent.runs.job_edits import write_new_job
    from agent.runs.wake_times import switch_schedule
    from agent.schedule.new_job import job_of_words, job_templates
else:
    not_set_up = later("agent.app.channels", "not_set_up")
    write_new_job = later("agent.runs.job_edits", "write_new_job")
    switch_schedule = later("agent.runs.wake_times", "switch_schedule")
    job_templates = later("agent.schedule.new_job", "job_templates")
    job_of_words = later("agent.schedule.new_job", "job_of_words")

MOST = 1_000
"""The most times of a job that are shown at once."""


@group("list")
def command() -> None:
    """Jobs are notes in jobs/: the header says when to wake, the body what to do then. A daemon runs them. Tasks are
    what the agent does once, when it is awake.

    ID is a job's id, its note, or its title.
    """


@command.command("list", short_help="List the jobs, when each runs next, and what is wrong with some.")
@in_vault
def list_(output: Output, workspace: Workspace) -> None:
    """List the jobs, when each runs next, and the notes in jobs/ that cannot run."""
    output.emit(lambda: deeds.list_jobs(workspace), lambda: _format_jobs(workspace))


def _format_jobs(workspace: Workspace) -> str:
    shelf = job_shelf(workspace).load()
    shelf = replace(shelf, jobs=tuple(job_as_it_is(workspace, job) for job in shelf.jobs))
    line, tasks = schedule_switch(workspace).line, len(load_tasks(workspace.vault).waiting)
    lines = [format_list(shelf, workspace.clock.now())]
    lines += [tr("tasks that wait: {count}; vault-agent jobs tasks lists them", count=tasks)] if tasks else []
    return "\n".join([*lines, *([tr(line)] if line is not None else [])])


@command.command("show")
@click.argument("name", metavar="ID")
@in_vault
def show_one(output: Output, workspace: Workspace, name: str) -> None:
    """Show one job: its next times and its last run, every setting that holds, and its text."""
    output.emit(lambda: {"job": deeds.show_job(workspace, name)}, lambda: _format_job(workspace, name))


def _format_job(workspace: Workspace, name: str) -> str:
    job = job_as_it_is(workspace, deeds.find_job(workspace, name, to_look=True))
    header = Note.parse(workspace.vault.own_version(job.path) or b"").header
    lines = format_job(job, workspace.clock.now(), record_here(workspace, job))
    text = job.text.splitlines()  # of one line all has been said
    return as_lines([*lines, "", *format_settings(job, header), *(["", *text] if len(text) > 1 else [])])


@command.command("next", short_help="Print when a job runs next.")
@click.argument("name", metavar="ID")
@click.option("--from", "start", metavar="TIME", help="After this moment; without an offset, in the job's zone.")
@click.option("--count", type=click.IntRange(1, MOST), default=5, show_default=True, help="How many times.")
@in_vault
def next_(output: Output, workspace: Workspace, name: str, start: str | None, count: int) -> None:
    """Print the next times of a job, with their offset. A job that is paused has the times that it would have."""
    job = deeds.find_job(workspace, name, to_look=True)
    found = job.coming(_moment(start, job) if start else workspace.clock.now(), count)
    text = [each.at.isoformat(" ", "minutes") for each in found] or [
        tr("no time: only changes or events start this job")
    ]
    output.emit(
        {"job": job.id, "zone": job.zone.key, "occurrences": [{"at": each.at.isoformat()} for each in found]},
        as_lines(text),
    )


def _moment(words: str, job: Job) -> datetime:
    try:
        return moment_in(datetime.fromisoformat(words.strip()), job.zone)
    except (ValueError, OverflowError) as error:
        hint = "2026-03-28T00:00:00+01:00, or without an offset for the job's own zone"
        raise UserError("{text} is not a time", hint=hint, text=words) from error


@command.command("add", short_help="Make a job of a sentence.")
@words_argument("words", metavar="TEXT...")
@click.option("--yes", is_flag=True, help="Write it without asking.")
@in_vault
def add(output: Output, workspace: Workspace, words: str, yes: bool) -> None:
    """Make a job of a sentence with a time in it, such as "every weekday at 9 brief me" or "每个工作日九点给我简报".

    Shows when it would run, and asks before it writes the note; --json writes only with --yes.
    """
    vault, now = workspace.vault, workspace.clock.now().astimezone()
    made = job_of_words(vault, words, now)
    job = made.job
    times, unset = job.coming(now, 3), not_set_up(job.channel, workspace.settings)
    lines = [
        job.title,
        "  " + format_when(job),
        *("  " + tr("next {moment}", moment=format_time(each.at, now)) for each in times),
        *(f"  {each}" for each in made.remarks(spoken())),
        *(["  " + tr("the answer goes to {channel}", channel=job.channel)] if job.channel != DAILY_CHANNEL else []),
        *(["  " + translated(unset, spoken())] if unset is not None else []),
        "  " + format_cost(cost_of_day(workspace, job, has_model(workspace))),
    ]
    document = {"job": deeds.job_view(job, now), "occurrences": [{"at": each.at.isoformat()} for each in times]}
    document |= {"remarks": list(made.remarks(spoken()))}
    asks = not yes and not output.json and sys.stdin.isatty()
    if asks:
        show(as_lines(lines))
        confirm(tr("Write it to {path}?", path=job.path), default=True, abort=True)
    elif not yes:
        lines.append(tr("not written: with --yes it is"))
        output.emit({**document, "written": False}, as_lines(lines))
        return
    commit = write_new_job(workspace, made).commit
    rows = [] if asks else lines
    rows.append(tr("written: {path}", path=job.path))
    rows += [*warning_lines([job]), *what_keeps_jobs(workspace)]
    output.emit({**document, "written": True, "commit": commit}, as_lines(rows))


if TYPE_CHECKING:
    from agent.app.jobs import run_by_hand
    from agent.runs.job_run import JobResult
else:
    run_by_hand = later("agent.app.jobs", "run_by_hand")


@command.command("run", short_help="Run a job now, here.", epilog=exit_codes("the run failed"))
@click.argument("name", metavar="ID")
@in_vault
def run(output: Output, workspace: Workspace, name: str) -> None:
    """Run a job once now, in this terminal, also one that is paused or asks for a yes. It is in the job's history.

    One that is only ready gets its note, paused: `jobs resume` lets it run by itself."""
    job = deeds.job_to_run(workspace, name)
    progress("running …")
    result = run_by_hand(workspace, job)
    document = {"job": job.id, "outcome": result.outcome, "answer": result.text, "money": round(result.money, 6)}
    document |= {name: getattr(result, name) or None for name in ("reason", "session", "waits_for")}
    document |= {"history": history_path(workspace.vault.home, job.id)}
    output.emit(document, lambda: as_lines(_format_result(result)))
    if result.outcome == "failed":
        raise CheckFailed


def _format_result(result: "JobResult") -> list[str]:
    lines = result.text.splitlines()
    lines.append(tr("{outcome}: {reason}", outcome=tr(result.outcome), reason=result.reason)
                 if result.reason else tr(result.outcome))  # fmt: skip
    return lines + ([tr("it waits for you in {path}", path=result.waits_for)] if result.waits_for else [])


@command.command("pause", short_help="Let a job run no more.")
@click.argument("name", metavar="ID")
@in_vault
def pause(output: Output, workspace: Workspace, name: str) -> None:
    """Set `status: paused` in the note of a job; nothing else of it changes."""
    _show_switched(output, workspace, deeds.pause_job(workspace, name))


@command.command("resume", short_help="Let a job run again; says what a day of it costs.")
@click.argument("name", metavar="ID")
@in_vault
def resume(output: Output, workspace: Workspace, name: str) -> None:
    """Set `status: active` in the note of a job. One that its failures have stopped runs again, too; one of `jobs
    templates` is written into the vault."""
    _show_switched(output, workspace, deeds.resume_job(workspace, name))


@command.command("templates", short_help="List the jobs that are ready to be switched on.")
@in_vault
def templates(output: Output, workspace: Workspace) -> None:
    """List the jobs that are ready; `jobs resume ID` writes one into the vault and lets it run."""
    found = deeds.ready_jobs(workspace)
    ready = job_templates(workspace.vault.home, workspace.settings.vault.language)
    there = {each.id for each in found.jobs if each.is_in_vault}
    lines = [
        f"{padded(each.job.id, 18)} {format_when(each.job)}"
        + (f"  {tr('is in this vault')}" if each.job.id in there else "")
        for each in ready
    ]
    output.emit(found, as_lines([*lines, "", tr("to switch one on: vault-agent jobs resume ID")]))


def _show_switched(output: Output, workspace: Workspace, done: deeds.Switched) -> None:
    lines = [tr("waits until git has finished what it is doing")] if done.queued else []
    job = job_shelf(workspace).load().get(done.job)  # none yet, where a new one waits
    lines.append(tr("{id} is {status}", id=job.name if job else done.job, status=tr(done.status)))
    if done.status == "active" and job is not None:
        lines += [format_cost(cost_of_day(workspace, job, has_model(workspace))), *what_keeps_jobs(workspace)]
    output.emit(done, as_lines(lines))


def format_cost(cost: DayCost) -> str:
    """What a day costs, in one line."""
    often = often_words(cost.times, spoken()) if cost.times else tr("no fixed time")
    times = tr("once") if cost.is_once else often
    if cost.is_free:
        return tr("{times}; no model: nothing to pay", times=times)
    if cost.money is None:
        return tr("{times}; what a run costs is known after the first one", times=times)
    money = round(cost.money * cost.times, 6)
    return tr("{times}; about ${money:.4f} a day, by its runs so far", times=times, money=money)


@command.command("history", short_help="List the runs of a job, and what did not run.")
@click.argument("name", metavar="ID")
@click.option("-n", "count", type=click.IntRange(0), default=20, show_default=True, help="How many; 0 for all.")
@in_vault
def history(output: Output, workspace: Workspace, name: str, count: int) -> None:
    """List the runs of a job, the newest last, with those that found nothing to do and stay on this machine."""
    found, now = deeds.job_history(workspace, name), workspace.clock.now()
    runs = (found.runs[:count] if count else found.runs)[::-1]
    lines = [_line(each, now) for each in runs]
    if found.stopped:
        stopped = "stopped after {count} failures in a row: vault-agent jobs resume {id}"
        id = quote(deeds.find_job(workspace, name, to_look=True).name)
        lines.append(tr(stopped, count=found.consec_failures, id=id))
    output.emit(lambda: deeds.JobHistory.of(found, runs=runs), as_lines(lines) or tr("it has not run yet"))


@command.command("log", short_help="List what a job has changed.")
@click.argument("name", metavar="ID")
@click.option("-n", "count", type=click.IntRange(0), default=10, show_default=True, help="How many; 0 for all.")
@click.pass_context
def log(ctx: click.Context, name: str, count: int) -> None:
    """List the commits of a job, as `vault-agent log --job` does."""
    output: Output = ctx.obj
    job = deeds.find_job(open_workspace(output.vault()), name)
    unset: dict[str, object] = dict.fromkeys(each.name or "" for each in log_command.params)
    ctx.invoke(log_command, **{**unset, "job": job.id, "count": count})


def _line(row: deeds.PastRunView, now: datetime) -> str:
    parts: Sequence[str] = (
        padded(tr(row.outcome), 11),
        tr("{seconds:.0f} s", seconds=row.seconds) if row.started and not row.local else "",
        f"${row.money:.4f}" if row.money else "",
        tr("stands for {count}", count=row.missed) if row.missed else "",
        tr("attempt {number}", number=row.attempt) if row.attempt > 1 else "",
        row.reason or "",
        row.delivery or "",
        row.session or "",
        tr("on this machine only") if row.local else "",
    )
    return f"{format_time(datetime.fromisoformat(row.planned), now)}  " + "  ".join(filter(None, parts))


@command.command("start", short_help="Let jobs and tasks begin again.")
@in_vault
def start(output: Output, workspace: Workspace) -> None:
    """Let the jobs and tasks of this vault begin by themselves on this machine, after `stop`. A daemon runs them."""
    switch_schedule(workspace, True)
    lines = [tr("the jobs and tasks of this vault begin at their times again"), *what_keeps_jobs(workspace)]
    output.emit({"enabled": True}, as_lines(lines))


@command.command("stop", short_help="Let no job and no task begin, until `start`.")
@in_vault
def stop(output: Output, workspace: Workspace) -> None:
    """Let no job and no task of this vault begin on this machine any more; what goes on is finished. Other vaults go
    on."""
    deeds.stop_schedule(workspace, tr("you stopped it"))
    hint = schedule_switch(workspace).hint
    output.emit({"enabled": False}, as_lines([tr("no job and no task of this vault begins any more"), tr(hint)]))


def what_keeps_jobs(workspace: Workspace) -> list[str]:
    """The lines that say why no job runs here at its time: no daemon, or a schedule that is stopped."""
    line = schedule_switch(workspace).line
    lines = [tr(line)] if line is not None else []
    return lines + ([] if is_watched(workspace) else [tr("no daemon runs here: vault-agent daemon")])
