"""`vault-agent run`: what a note asks for, worked on at once; the answer goes into the note, and on the screen."""

import sys
from contextlib import closing

import click

from agent.app.build import App, build
from agent.app.cut_off import close_cut_off
from agent.app.library import library
from agent.app.requests import Placed, asked_in, held, is_standing, perform, place
from agent.app.runs import Line, Runs, runs
from agent.errors import AgentError, UserError
from agent.interfaces.cli.answered import answered, failure, remarks
from agent.interfaces.cli.interrupt import stopped_by_ctrl_c
from agent.interfaces.cli.output import Failed, Output
from agent.interfaces.cli.paths import inside
from agent.interfaces.cli.screen import Screen
from agent.interfaces.cli.search import catch_up
from agent.loop.outcome import Ended, Outcome
from agent.markdown.requests import Request
from agent.vault.find import find_note
from agent.vault.folders import INBOX


@click.command(short_help="Answer what a note asks, in the note.")
@click.argument("path")
@click.pass_obj
def command(output: Output, path: str) -> None:
    """Work on what the note at PATH asks, and put the answer into it in one commit.

    A note in inbox/, or with `agent: ask` in its header, is one request; else each open task that begins with @agent
    is one, and where there is none the whole note. The daemon does the same by itself for what you write in inbox/.
    """
    app = build(output.vault())
    name = find_note(app.vault, inside(path, app.vault.place.root))
    asked = asked_in(app, name, named=True)
    if is_standing(name):
        hint = f'ask in a note in {INBOX}, or here: vault-agent ask "…"'
        raise UserError(f"{name} is before the agent in every run, so no answer is written into it", hint=hint)
    if not asked:
        hint = "write below the last answer, untick the task, or put `status: pending` into the note's header"
        raise UserError(f"nothing new is asked in {name}", hint=hint)
    documents: list[dict[str, object]] = []
    with held(app, name), closing(library(app)) as index:
        late = catch_up(app, index)
        if late:
            output.note(f"search is behind: {late}")
        close_cut_off(app)
        with closing(runs(app, index)) as agent:
            for request in asked:
                ended, document = _work(app, agent, output, name, request)
                documents.append(document)
                if ended.outcome is Outcome.FAILED:
                    raise Failed(failure(ended), {"path": name, "answers": documents})
                if ended.outcome is Outcome.INTERRUPTED:
                    break
    said = "\n\n".join(str(document["answer"]) for document in documents)
    output.emit({"path": name, "answers": documents}, "" if sys.stdout.isatty() else said)


def _work(app: App, agent: Runs, output: Output, path: str, request: Request) -> tuple[Ended, dict[str, object]]:
    """One request; what was asked is answered in the note unless the person has stopped it."""
    screen = Screen(sys.stdout.isatty() and not output.json)
    screen.watch(agent.bus)
    with stopped_by_ctrl_c() as cancelled:
        ended = perform(app, agent, path, request, Line(screen.text, cancelled))
    screen.whole(ended.answer)
    placed: Placed | None = None
    unplaced = ""
    if ended.outcome is not Outcome.INTERRUPTED:
        try:
            placed = place(app, path, request, ended)
            unplaced = "" if placed else "the task is not in the note any more"
        except AgentError as error:
            unplaced = error.message
    output.note("\n".join(remarks(ended, app.settings.vault.language)))
    if unplaced:
        output.warn(f"the answer is not in {path}: {unplaced}; it is in {ended.session}")
    document = {
        "request": request.text,
        "line": request.line or None,
        **answered(agent, ended),
        "status": placed.status if placed else None,
        "commit": placed.commit if placed else None,
        "problem": unplaced or None,
    }
    return ended, document
