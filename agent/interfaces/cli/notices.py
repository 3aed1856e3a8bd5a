"""`vault-agent notices | why`: lists and explains what the agent wanted to say, and takes opinions about it."""

import click

from agent.app.notice_ledger import open_ledger
from agent.attention.notice_code import notice_code
from agent.attention.receipt import Reaction
from agent.deeds import notices
from agent.interfaces.cli.declare import group, in_vault
from agent.interfaces.cli.language import said
from agent.interfaces.cli.notice_texts import notice_line, notice_story
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.workspace.workspace import Workspace, is_watched

_SHOWN = 20


@group("list")
def command() -> None:
    """List the notices, whether they were sent, held, dropped or left for the digest. ID is a notice's id or the end
    of it, as the list shows it."""


@command.command("list", short_help="List the notices, the newest last.")
@click.option("-n", "count", type=click.IntRange(0), help="How many; 0 for all. Default: 20, and all with --json.")
@in_vault
def list_notices(output: Output, workspace: Workspace, count: int | None) -> None:
    """List the notices of this machine, the newest last."""
    most = (0 if output.json else _SHOWN) if count is None else count

    def shown() -> str:
        lines = [notice_line(each, workspace.clock.now()) for each in open_ledger(workspace).all()[-most:]]
        return as_lines(lines) or said("there was nothing to say yet")

    output.emit(lambda: {"notices": notices.list_notices(workspace).notices[: most or None][::-1]}, shown)


@command.command(short_help="Show a notice and all that became of it.")
@click.argument("name", metavar="ID")
@in_vault
def show(output: Output, workspace: Workspace, name: str) -> None:
    """Show a notice with its lines, what was decided about it, and what became of it."""
    _show(output, workspace, name, is_whole=True)


@command.command(short_help="Say that a notice was not worth it.")
@click.argument("name", metavar="ID")
@in_vault
def dismiss(output: Output, workspace: Workspace, name: str) -> None:
    """Dismiss a notice: after three of its type in a row, the type counts half until you find one helpful."""
    _react(output, workspace, name, "dismissed")


@command.command(short_help="Say that a notice was helpful.")
@click.argument("name", metavar="ID")
@in_vault
def helpful(output: Output, workspace: Workspace, name: str) -> None:
    """Say that a notice was helpful: its type counts in full again."""
    _react(output, workspace, name, "helpful")


@click.command()
@click.argument("name", metavar="NOTICE")
@in_vault
def why(output: Output, workspace: Workspace, name: str) -> None:
    """Explain what was decided about NOTICE (its id or the end of it), by which rule, and how it was delivered."""
    _show(output, workspace, name, is_whole=False)


def _show(output: Output, workspace: Workspace, name: str, *, is_whole: bool) -> None:
    """Print what became of a notice, and with `is_whole` its lines too."""
    ledger, now = open_ledger(workspace), workspace.clock.now()
    receipt, others = notices.find_notice(ledger, name), {each.id: each for each in ledger.all()}
    lines = notice_story(receipt, others, now, is_watched(workspace))
    if is_whole and receipt.raised.lines:
        lines += ["", *receipt.raised.lines]
    found = notices.show_notice(workspace, receipt.id)
    output.emit({"notice": {**found.document(), "why": lines}}, as_lines(lines))


def _react(output: Output, workspace: Workspace, name: str, reaction: Reaction) -> None:
    done = notices.react(workspace, name, reaction)
    told = said("noted: {code}", code=notice_code(done.notice))
    if done.halved:
        kind = notices.find_notice(open_ledger(workspace), done.notice).raised.type
        told += said("; notices of the type {type} count half until you find one helpful", type=kind)
    output.emit(done, told)
