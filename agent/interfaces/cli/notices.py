"""`vault-agent notices`: lists what the agent wanted to say, and takes opinions about it."""

import click

from agent.app.notice_ledger import open_ledger
from agent.app.open import open_workspace
from agent.attention.feedback import notice_code
from agent.attention.notice_document import notice_document
from agent.attention.receipt import NoticeReceipt, Reaction
from agent.attention.receipts import NoticeLedger
from agent.attention.rules import is_often_dismissed
from agent.interfaces.cli.language import said
from agent.interfaces.cli.notice_texts import notice_line, notice_story
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.runs.short_ids import NotFound, find_by_id
from agent.workspace.daemon_lock import is_watched

NOT_FOUND = NotFound(
    "there is no notice with the id {name}", "several notices end in {name}", "vault-agent notices list"
)
_SHOWN = 20


@click.group(short_help="What the agent wanted to say: list, show, dismiss.", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the notices, whether they were sent, held, dropped or left for the digest. ID is a notice's id or the end
    of it, as the list shows it."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_notices, count=None)


@command.command("list", short_help="List the notices, the newest last.")
@click.option("-n", "count", type=click.IntRange(0), help="How many; 0 for all. Default: 20, and all with --json.")
@click.pass_obj
def list_notices(output: Output, count: int | None) -> None:
    """List the notices of this machine, the newest last."""
    workspace = open_workspace(output.vault())
    receipts, now = open_ledger(workspace).all(), workspace.clock.now()
    others = {each.id: each for each in receipts}
    most = (0 if output.json else _SHOWN) if count is None else count
    shown = receipts[-most:] if most else receipts
    lines = [notice_line(each, now) for each in shown]
    document = {"notices": [notice_document(each, others) for each in shown]}
    output.emit(document, as_lines(lines) or said("there was nothing to say yet"))


@command.command(short_help="Show a notice and all that became of it.")
@click.argument("name", metavar="ID")
@click.pass_obj
def show(output: Output, name: str) -> None:
    """Show a notice with its lines, what was decided about it, and what became of it."""
    show_notice(output, name, is_whole=True)


@command.command(short_help="Say that a notice was not worth it.")
@click.argument("name", metavar="ID")
@click.pass_obj
def dismiss(output: Output, name: str) -> None:
    """Dismiss a notice: after three of its type in a row, the type counts half until you find one helpful."""
    _react(output, name, "dismissed")


@command.command(short_help="Say that a notice was helpful.")
@click.argument("name", metavar="ID")
@click.pass_obj
def helpful(output: Output, name: str) -> None:
    """Say that a notice was helpful: its type counts in full again."""
    _react(output, name, "helpful")


def show_notice(output: Output, name: str, *, is_whole: bool) -> None:
    """Print what became of a notice, and with `is_whole` its lines too."""
    workspace = open_workspace(output.vault())
    ledger, now = open_ledger(workspace), workspace.clock.now()
    receipt, others = find_notice(ledger, name), {each.id: each for each in ledger.all()}
    lines = notice_story(receipt, others, now, is_watched(workspace))
    if is_whole and receipt.raised.lines:
        lines += ["", *receipt.raised.lines]
    document = {**notice_document(receipt, others), "title": receipt.raised.title, "lines": list(receipt.raised.lines)}
    document |= {"tries": receipt.tries, "problem": receipt.problem or None, "reaction": receipt.reaction}
    document |= {"delivered": receipt.delivered_at.isoformat() if receipt.delivered_at else None, "why": lines}
    output.emit({"notice": document}, as_lines(lines))


def find_notice(ledger: NoticeLedger, name: str) -> NoticeReceipt:
    """The notice that a person names; raises `UserError`."""
    return find_by_id(name, ledger.all(), NOT_FOUND)


def _react(output: Output, name: str, reaction: Reaction) -> None:
    ledger = open_ledger(open_workspace(output.vault()))
    receipt = find_notice(ledger, name)
    ledger.react(receipt.id, reaction)
    kind = receipt.raised.type
    tired = is_often_dismissed(kind, ledger.all())
    told = said("noted: {code}", code=notice_code(receipt.id))
    if tired:
        told += said("; notices of the type {type} count half until you find one helpful", type=kind)
    output.emit({"notice": receipt.id, "reaction": reaction, "halved": tired}, told)
