"""Resumes the run that waited for a decision: the last step of `approvals` and `questions`."""

from contextlib import closing
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from agent.interfaces.cli.decide import resume_after
from agent.interfaces.cli.foreground import foreground
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import CommandFailed, Output
from agent.interfaces.cli.printing import show
from agent.interfaces.cli.prompt import confirm
from agent.interfaces.cli.run_report import document, failure, remarks
from agent.interfaces.cli.run_summary import check_whole
from agent.interfaces.cli.screen import is_terminal
from agent.lazy import later
from agent.loop.outcome import Ended, RunOutcome
from agent.runs.decisions import Resumer, resumer_of
from agent.runs.registry import RunMark
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.app.agent import build_runs
    from agent.workspace.search_index import open_index
else:
    open_index = later("agent.workspace.search_index", "open_index")
    build_runs = later("agent.app.agent", "build_runs")


def emit_decision(
    workspace: Workspace, output: Output, path: str, decision: dict[str, object], note: str, *, resume_here: bool
) -> None:
    """Print a decision about the note at `path`, and resume the run that waited for it.

    Without a daemon the run is resumed in this process: with `resume_here`, or after the person's yes at the terminal.
    """

    def here() -> bool:
        ask = not resume_here and is_terminal() and not output.json
        return confirm(said("go on with the run now?"), default=True) if ask else resume_here

    who, mark = resumer_of(workspace, path, here)
    output.note(note)
    ended, report = (
        _resume(workspace, output, mark.session) if who is Resumer.HERE and mark is not None else (None, None)
    )
    output.emit({**decision, "goes_on": who.value, "run_ended": report}, _what_follows(who, mark))
    if ended is not None:
        check_whole(ended)


def _resume(workspace: Workspace, output: Output, session: str) -> tuple[Ended, dict[str, object]]:
    """Resume a session's run here and show its answer; returns its result, also as a document."""
    with closing(open_index(workspace)) as index:
        agent = build_runs(workspace, index)
        here = foreground(agent, output)
        with here.closing():
            ended = here.run_and_decide(lambda line: agent.resume(session, line), partial(resume_after, agent))
            if not here.screen.live and not output.json:
                show(ended.answer)
            output.note("\n".join(remarks(ended, workspace.settings.vault.language)))
            report = document(agent, ended, resumed=True)
    if ended.outcome is RunOutcome.FAILED:
        raise CommandFailed(failure(ended), report)
    return ended, report


def _what_follows(who: Resumer, mark: RunMark | None) -> str:
    match who:
        case Resumer.DAEMON:
            return said("the daemon goes on with the run")
        case Resumer.LATER if mark is not None:
            return said("go on with: vault-agent ask --resume {session}", session=quote(mark.session))
        case Resumer.NOBODY:
            return said("no run waits for it here any more")
        case _:
            return ""
