"""`vault-agent ask`: runs one task and shows the answer as it arrives, and the changes made.

An answer exits with 0, and so does a run that waits for its person; a run that a limit stopped exits with 1, since its
answer is not whole. A failed run exits with the code of the error that stopped it; its document still names the run and
the session.
"""

import sys
from contextlib import closing

import click

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.errors import UserError
from agent.interfaces.cli.foreground import Foreground, foreground, update_index
from agent.interfaces.cli.guest import asking, guest_options
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import CommandFailed, Output
from agent.interfaces.cli.run_report import EXIT_CODES, check_whole, document, failure, remarks
from agent.interfaces.cli.skill_news import show_skill_news
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.request import RunRequest
from agent.loop.session import load_session
from agent.runs.arrivals import arrivals_before_a_run
from agent.runs.crash_recovery import close_cut_off
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace


@click.command(short_help="Give the agent a task and see its answer.", epilog=EXIT_CODES)
@click.argument("text", required=False)
@click.option("--session", metavar="PATH", default="", help="Go on in this session instead of a new one.")
@click.option("--resume", metavar="PATH", default="", help="Take up the run in this session that was cut off or waits.")
@guest_options
@click.pass_obj
def command(output: Output, text: str | None, session: str, resume: str, name: str, group: str, channel: str) -> None:
    """Ask TEXT (`-` reads standard input). Without a model the answer quotes the notes that fit best.

    On a terminal the answer appears as it arrives, and you are asked at once for any approval that is needed. A pipe
    gets only the answer. Ctrl-C stops the run; its changes are kept, and --resume continues it.
    """
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    task = (text or "").strip()
    if bool(resume) == bool(task):
        raise UserError("say what you want, or --resume a session", hint='vault-agent ask "What did I plan for June?"')
    who = asking(name, group, channel)
    if resume and name:
        raise UserError("--as goes with a new task, not with --resume", hint="the run that is resumed has its speaker")
    workspace = open_workspace(output.vault())
    with closing(open_index(workspace)) as index:
        close_cut_off(workspace)
        update_index(workspace, index, output)
        if arrived := arrivals_before_a_run(workspace):
            output.note(arrived)
        here = foreground(build_runs(workspace, index), output)
        with here.closing():
            ended = _run(here, output, RunRequest(task, who.speaker, who.role), session, resume)
            report = document(here.agent, ended, resumed=bool(resume))
    _show(workspace, output, ended, report)
    show_skill_news(workspace, output)


def _run(here: Foreground, output: Output, asked: RunRequest, session: str, resume: str) -> Ended:
    agent = here.agent
    if resume:
        return here.run_and_decide(lambda line: agent.resume(resume, line))
    if session and agent.is_stale(load_session(agent.workspace.vault, session)):
        output.note(said("{session} has been silent for too long and is over; this is a new session", session=session))
        session = ""
    return here.run_and_decide(lambda line: agent.ask(asked, session, line))


def _show(workspace: Workspace, output: Output, ended: Ended, report: dict[str, object]) -> None:
    below = "\n".join(remarks(ended, workspace.settings.vault.language))
    if ended.outcome is RunOutcome.FAILED:
        output.note(below)
        raise CommandFailed(failure(ended), report)
    output.emit(report, "" if sys.stdout.isatty() else ended.answer)
    output.note(f"\n{below}" if sys.stdout.isatty() else below)
    check_whole(ended)
