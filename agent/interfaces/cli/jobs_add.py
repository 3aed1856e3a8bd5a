"""`vault-agent jobs add`: a job from a sentence."""

import sys

import click

from agent.app.open import open_workspace
from agent.interfaces.cli.job_texts import format_when
from agent.interfaces.cli.jobs_change import format_cost
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines, show
from agent.interfaces.cli.prompt import confirm
from agent.interfaces.cli.time_format import format_time
from agent.interfaces.cli.words import words_argument
from agent.runs.configured_models import has_model
from agent.runs.job_upkeep import cost_of_day
from agent.schedule.job_document import coming, job_document, occurrence_documents
from agent.schedule.new_job import job_of_words
from agent.vault.change import Stamp
from agent.vault.message import one_line
from agent.workspace.daemon_lock import is_watched


@click.command("add", short_help="Make a job of a sentence.")
@words_argument("words", metavar="TEXT...")
@click.option("--yes", is_flag=True, help="Write it without asking.")
@click.pass_obj
def add(output: Output, words: str, yes: bool) -> None:
    """Make a job of a sentence with a time in it, such as "every weekday at 9 brief me" or "每个工作日九点给我简报".

    Shows when it would run, and asks before it writes the note; --json writes only with --yes.
    """
    workspace = open_workspace(output.vault())
    vault, now = workspace.vault, workspace.clock.now().astimezone()
    made = job_of_words(vault, words, now)
    job = made.job
    times = coming(job, now, 3)
    lines = [
        job.title,
        "  " + format_when(job),
        *("  " + said("next {moment}", moment=format_time(each.at, now)) for each in times),
        "  " + format_cost(cost_of_day(workspace, job, has_model(workspace))),
    ]
    document = {"job": job_document(job, now), "occurrences": occurrence_documents(times)}
    asks = not yes and not output.json and sys.stdin.isatty()
    if asks:
        show(as_lines(lines))
        confirm(said("Write it to {path}?", path=job.path), default=True, abort=True)
    elif not yes:
        lines.append(said("not written: with --yes it is"))
        output.emit({**document, "written": False}, as_lines(lines))
        return
    with vault.transaction(f"job(add): {one_line(job.name)}", Stamp("human")) as change:
        change.create(job.path, made.data)
    told = [] if asks else lines
    told.append(said("written: {path}", path=job.path))
    told += [] if is_watched(workspace) else [said("no daemon runs here: vault-agent daemon")]
    output.emit({**document, "written": True, "commit": change.outcome.commit}, as_lines(told))
