"""After a decision: the run that waited for it goes on, by the daemon where one is at work, else here when wanted."""

import sys
from contextlib import closing

from agent.app.alone import is_watched
from agent.app.build import App
from agent.app.library import library
from agent.app.marks import Mark
from agent.app.runs import Line, runs
from agent.app.waiting import ready
from agent.interfaces.cli.answered import answered, failure, remarks
from agent.interfaces.cli.decide import settle
from agent.interfaces.cli.interrupt import stopped_by_ctrl_c
from agent.interfaces.cli.output import Failed, Output
from agent.interfaces.cli.printing import show
from agent.interfaces.cli.prompt import confirm, keyboard
from agent.interfaces.cli.screen import Screen, is_terminal
from agent.loop.outcome import Ended, RunOutcome

HERE, DAEMON, LATER, NOBODY = "here", "daemon", "later", "nobody"


def wanted(app: App, output: Output, path: str, go_on: bool) -> tuple[str, Mark | None]:
    """Who takes up the run that waited for the note at `path`, and its mark; `nobody` when none waits."""
    mark = next((mark for mark in ready(app) if mark.waits_for == path), None)
    if mark is None:
        return NOBODY, None
    if is_watched(app):
        return DAEMON, mark
    if not go_on and is_terminal() and not output.json:
        go_on = confirm("go on with the run now?", default=True)
    return HERE if go_on else LATER, mark


def go_on(app: App, output: Output, session: str) -> dict[str, object]:
    """Take up a session's run here and show what comes of it; its document."""
    with closing(library(app)) as index, closing(runs(app, index)) as agent:
        screen = Screen(sys.stdout.isatty() and not output.json)
        screen.watch(agent.bus)

        def going(path: str, first: object = None) -> Ended:
            with stopped_by_ctrl_c() as cancelled:
                line = Line(screen.text, cancelled)
                ended = agent.resume(path, line, first) if callable(first) else agent.resume(path, line)
            screen.whole(ended.answer)
            return ended

        ended = going(session)
        if is_terminal() and not output.json:
            ended = settle(agent, ended, keyboard, going)
        if not screen.live and not output.json:
            show(ended.answer)
        output.note("\n".join(remarks(ended, app.settings.vault.language)))
        document = answered(agent, ended, again=True)
    if ended.outcome is RunOutcome.FAILED:
        raise Failed(failure(ended), document)
    return document


def said(who: str, mark: Mark | None) -> str:
    """Who goes on, for people."""
    match who:
        case "daemon":
            return "the daemon goes on with the run"
        case "later" if mark is not None:
            return f"go on with: vault-agent ask --resume {mark.session}"
        case "nobody":
            return "no run waits for it here any more"
        case _:
            return ""
