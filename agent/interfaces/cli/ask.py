"""`vault-agent ask`: one task for the agent, its answer as it comes, and what it did.

A run that ends in any way but a failure is an answer, exit 0: its outcome says whether it is the last word. A run that
failed exits as the error that stopped it would; its document still names the run and the session.
"""

import sys
from collections.abc import Callable
from contextlib import closing

import click

from agent.app.arrivals import arrivals_before_a_run
from agent.app.build import App, build
from agent.app.cut_off import close_cut_off
from agent.app.library import library
from agent.app.runs import Line, Runs, runs
from agent.errors import UserError
from agent.events.runs import Speaker
from agent.interfaces.cli.answered import answered, failure, remarks
from agent.interfaces.cli.decide import settle
from agent.interfaces.cli.interrupt import stopped_by_ctrl_c
from agent.interfaces.cli.output import Failed, Output
from agent.interfaces.cli.prompt import keyboard
from agent.interfaces.cli.screen import Screen, is_terminal
from agent.interfaces.cli.search import catch_up
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.run import RunRequest
from agent.loop.session import load_session


@click.command(short_help="Give the agent a task and see its answer.")
@click.argument("text", required=False)
@click.option("--session", metavar="PATH", default="", help="Go on in this session instead of a new one.")
@click.option("--resume", metavar="PATH", default="", help="Take up the run in this session that was cut off or waits.")
@click.pass_obj
def command(output: Output, text: str | None, session: str, resume: str) -> None:
    """Ask TEXT (`-` reads standard input). Without a model the answer quotes the notes that fit best.

    On a terminal the answer appears as it comes, and what the agent may not do without you is asked there and then.
    Into a pipe goes the answer alone. Ctrl-C stops the run; what it has done stays, and --resume goes on.
    """
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    task = (text or "").strip()
    if bool(resume) == bool(task):
        raise UserError("say what you want, or --resume a session", hint='vault-agent ask "What did I plan for June?"')
    app = build(output.vault())
    with closing(library(app)) as index:
        close_cut_off(app)
        late = catch_up(app, index)
        if late:
            output.note(f"search is behind: {late}")
        if arrived := arrivals_before_a_run(app):
            output.note(arrived)
        with closing(runs(app, index)) as agent:
            ended = _asked(agent, output, task, session, resume)
            document = answered(agent, ended, again=bool(resume))
    _tell(app, output, ended, document)


def _asked(agent: Runs, output: Output, task: str, session: str, resume: str) -> Ended:
    """Let the run go, and go on as long as the person at the terminal decides."""
    screen = Screen(sys.stdout.isatty() and not output.json)
    screen.watch(agent.bus)

    def going(begin: Callable[[Line], Ended]) -> Ended:
        with stopped_by_ctrl_c() as cancelled:
            ended = begin(Line(screen.text, cancelled))
        screen.whole(ended.answer)
        return ended

    if resume:
        ended = going(lambda line: agent.resume(resume, line))
    else:
        if session and agent.is_stale(load_session(agent.app.vault, session)):
            output.note(f"{session} has been silent for too long and is over; this is a new session")
            session = ""
        ended = going(lambda line: agent.ask(RunRequest(task, Speaker("cli")), session, line))
    if is_terminal() and not output.json:
        ended = settle(agent, ended, keyboard, lambda path, first: going(lambda line: agent.resume(path, line, first)))
    return ended


def _tell(app: App, output: Output, ended: Ended, document: dict[str, object]) -> None:
    told = "\n".join(remarks(ended, app.settings.vault.language))
    if ended.outcome is RunOutcome.FAILED:
        output.note(told)
        raise Failed(failure(ended), document)
    output.emit(document, "" if sys.stdout.isatty() else ended.answer)
    output.note(told)
