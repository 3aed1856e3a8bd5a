"""`vault-agent jobs`: lists, shows, makes, runs and pauses what the agent does at its time."""

from dataclasses import replace
from datetime import datetime

import click

from agent.app.open import open_workspace
from agent.errors import UserError
from agent.interfaces.cli.job_texts import format_job, format_list
from agent.interfaces.cli.jobs_add import add
from agent.interfaces.cli.jobs_change import pause, resume, run
from agent.interfaces.cli.jobs_lookup import find_job
from agent.interfaces.cli.jobs_past import history, log
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.runs.job_upkeep import job_as_it_is, job_record, job_shelf
from agent.schedule.job import Job
from agent.schedule.job_document import coming, job_document, occurrence_documents, problem_document, record_document
from agent.schedule.occurrences import moment_in

MOST = 1_000
"""The most times of a job that are shown at once."""


@click.group(short_help="What the agent does at its time: list, make, run, pause.", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Jobs are notes in jobs/: the header says when to wake, the body what to do then. A daemon runs them.

    ID is a job's id, its note, or its title.
    """
    if ctx.invoked_subcommand is None:
        _list(ctx.obj)


@command.command("list", short_help="List the jobs, when each runs next, and what is wrong with some.")
@click.pass_obj
def list_(output: Output) -> None:
    """List the jobs, when each runs next, and the notes in jobs/ that cannot run."""
    _list(output)


def _list(output: Output) -> None:
    workspace = open_workspace(output.vault())
    shelf, now = job_shelf(workspace).load(), workspace.clock.now()
    shelf = replace(shelf, jobs=tuple(job_as_it_is(workspace, job) for job in shelf.jobs))
    document = {
        "jobs": [job_document(job, now) for job in shelf.jobs],
        "problems": [problem_document(each) for each in shelf.problems],
        "waiting": list(shelf.waiting),
    }
    output.emit(document, lambda: format_list(shelf, now))


@command.command()
@click.argument("name", metavar="ID")
@click.pass_obj
def show(output: Output, name: str) -> None:
    """Show one job, its next times and its last run."""
    workspace = open_workspace(output.vault())
    job, now = job_as_it_is(workspace, find_job(workspace, name)), workspace.clock.now()
    record = job_record(workspace, job.id)
    document = {**job_document(job, now), **record_document(record)}
    output.emit({"job": document}, lambda: as_lines(format_job(job, now, record)))


@command.command("next", short_help="Print when a job runs next.")
@click.argument("name", metavar="ID")
@click.option("--from", "start", metavar="TIME", help="After this moment; without an offset, in the job's zone.")
@click.option("--count", type=click.IntRange(1, MOST), default=5, show_default=True, help="How many times.")
@click.pass_obj
def next_(output: Output, name: str, start: str | None, count: int) -> None:
    """Print the next times of a job, with their offset. A job that is paused has the times that it would have."""
    workspace = open_workspace(output.vault())
    job = find_job(workspace, name)
    found = coming(job, _moment(start, job) if start else workspace.clock.now(), count)
    text = [each.at.isoformat(" ", "minutes") for each in found] or [
        said("no time: only changes or events start this job")
    ]
    output.emit({"job": job.id, "zone": job.zone.key, "occurrences": occurrence_documents(found)}, as_lines(text))


def _moment(words: str, job: Job) -> datetime:
    try:
        return moment_in(datetime.fromisoformat(words.strip()), job.zone)
    except (ValueError, OverflowError) as error:
        hint = "2026-03-28T00:00:00+01:00, or without an offset for the job's own zone"
        raise UserError("{text} is not a time", hint=hint, text=words) from error


for _each in (add, run, pause, resume, history, log):
    command.add_command(_each)
