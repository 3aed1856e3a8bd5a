"""`vault-agent approvals`: lists all that waits for a yes (calls, skills, arrivals, jobs), and approves or rejects."""

from collections.abc import Callable

import click

from agent.app.open import open_workspace
from agent.asking.codes import codes_by_path
from agent.asking.proposal import Proposal
from agent.deeds.decisions import ShownApproval, approval, decide, list_approvals
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines, columns, padded
from agent.interfaces.cli.resume import emit_decision
from agent.interfaces.cli.run_summary import EXIT_CODES
from agent.interfaces.cli.time_format import format_time
from agent.runs.kinds import pending_decisions
from agent.runs.named_decisions import decision_text, find_decision, name_of
from agent.runs.resumer import Resumer

_EXPLAINED = "Go on with the run here when no daemon does."


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the calls, skills and arrivals that wait for your yes. NAME is what the list begins a line with, the short
    code beside it, or a note.

    A yes to a call is valid once, for exactly the call shown. You can also tick the box in the note; a running daemon
    then does what follows from it.
    """
    if ctx.invoked_subcommand is None:
        _list(ctx.obj)


def _list(output: Output) -> None:
    workspace = open_workspace(output.vault())
    waiting, now = pending_decisions(workspace), workspace.clock.now()
    codes = codes_by_path(workspace.vault) if waiting else {}
    width = max((columns(name_of(each)) for each in waiting), default=0)
    lines = [
        f"{padded(name_of(each), width)}  {codes.get(each.path, '-')}  {format_time(each.created, now)}  "
        f"{_about(each)}  {each.path}"
        for each in waiting
    ]
    lines += (
        ["", said("vault-agent approvals show NAME, yes NAME, no NAME; or tick a box in the note")] if waiting else []
    )
    output.emit(lambda: list_approvals(workspace), as_lines(lines) or said("nothing waits for your yes"))


@command.command()
@click.argument("name", metavar="NAME")
@click.pass_obj
def show(output: Output, name: str) -> None:
    """Show what is asked in full: a call with the changes that it would make, or the note about a skill or arrival."""
    workspace = open_workspace(output.vault())
    asked = find_decision(workspace, name)
    found = approval(ShownApproval, asked, text=decision_text(workspace, asked))
    output.emit(found, f"{found.text}\n{said(found.status)}")


def _deciding(yes: bool) -> Callable[..., None]:
    def say(output: Output, name: str, reason: str, go: bool) -> None:
        workspace = open_workspace(output.vault())
        asked = find_decision(workspace, name)
        done = decide(workspace, asked, yes, reason)
        status = said(done.status)
        if asked.kind != "call":
            shown = said("waits until git has finished what it is doing") if done.status == "pending" else status
            output.emit(done, said("{shown}: {name}, in {path}", shown=shown, name=asked.name, path=asked.path))
            return
        note = said("{status}: {tool}, in {path}", status=status, tool=done.tool, path=done.path)
        if done.session:
            emit_decision(workspace, output, done.path, done.document(), note, resume_here=go)
            return
        follows = [said("the program that asked for it can make the call again")] if yes else []  # in no session
        document = {**done.document(), "goes_on": Resumer.NOBODY.value, "run_ended": None}
        output.emit(document, as_lines([note, *follows]))

    return say


for _word, _yes, _help in (("yes", True, "Say yes: a call is allowed once."), ("no", False, "Say no.")):
    _decide = click.pass_obj(_deciding(_yes))
    _decide = click.option("--go-on", "go", is_flag=True, help=_EXPLAINED)(_decide)
    _decide = click.option("--reason", default="", metavar="TEXT", help="Why; the agent is told.")(_decide)
    command.command(_word, help=_help, epilog=EXIT_CODES)(click.argument("name", metavar="NAME")(_decide))


def _about(asked: Proposal) -> str:
    return " ".join((asked.name, *asked.paths)) if asked.kind == "call" else asked.question
