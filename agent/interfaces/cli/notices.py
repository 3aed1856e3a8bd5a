"""`vault-agent notices | why`: lists and explains what the agent wanted to say, and takes opinions about it; `notify`
puts a notice through attention, as the agent's own are.
"""

from collections.abc import Mapping
from datetime import datetime

import click

from agent.app.notice_ledger import open_ledger
from agent.app.notices import open_outbox
from agent.app.open import open_workspace
from agent.attention.outbox import DIGEST
from agent.attention.receipt import NoticeDecision, NoticeReceipt, Reaction, notice_code
from agent.deeds import notices
from agent.deeds.notices import notice
from agent.errors import UserError
from agent.events.notices import NoticeRaised
from agent.interfaces.cli.declare import group, in_vault, words_argument
from agent.interfaces.cli.language import counted, listed, row, tr
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines, one_line, padded
from agent.interfaces.cli.time_format import format_time
from agent.llm.messages import never
from agent.workspace.workspace import Workspace, is_watched

_REACTIONS = {
    "helpful": "you found it helpful",
    "not_helpful": "you did not find it helpful",
    "dismissed": "you dismissed it",
}

_PLAIN = {
    "urgent": "sent: it is urgent, so quiet hours and numbers do not count",
    "duplicate": "dropped: the same was raised within 24 hours before",
    "over": "dropped: what it tells of was over before it could be shown",
}


def notice_line(receipt: NoticeReceipt, now: datetime) -> str:
    """A notice in one line: its code, time, what became of it, and the title."""
    state = tr(receipt.decision.decided)
    if receipt.is_undelivered:
        state = tr("on its way")
    code, time, title = notice_code(receipt.id), format_time(receipt.at, now), one_line(receipt.raised.title)
    return f"{code}  {time}  {padded(state, 11)}{receipt.raised.type}  {title}"


def notice_story(
    receipt: NoticeReceipt, others: Mapping[str, NoticeReceipt], now: datetime, is_watched: bool
) -> list[str]:
    """What was raised, what was decided and why, and what became of it, a line each."""
    raised = receipt.raised
    about = "{type}, priority {priority:g}, raised at {time}"
    lines = [
        row("notice", one_line(raised.title)),
        row("what", tr(about, type=raised.type, priority=raised.priority, time=format_time(receipt.at, now))),
    ]
    decided = decision_sentence(receipt.first, now)
    if receipt.first != receipt.decision:
        lines.append(row("first", decided))
        time, last = format_time(receipt.decided_at, now), decision_sentence(receipt.decision, now)
        decided = tr("{decision} (at {time})", decision=last, time=time)
    lines.append(row("decided", decided))
    if raised.channel and raised.channel != receipt.chosen:
        lines.append(row("channel", tr("{channel} was asked for, and is not set up", channel=raised.channel)))
    lines += _delivery(receipt, others, now, is_watched)
    if receipt.reaction:
        lines.append(row("you", tr(_REACTIONS[receipt.reaction])))
    return lines


def decision_sentence(decision: NoticeDecision, now: datetime) -> str:
    """A decision and the rule behind it, as a sentence."""
    figure, limit = decision.figure, decision.limit
    until = format_time(decision.until, now) if decision.until else ""
    match decision.rule:
        case "allowed":
            return tr("sent: it is number {count:.0f} of at most {most:.0f} today", count=figure, most=limit)
        case "urgent" | "duplicate" | "over":
            return tr(_PLAIN[decision.rule])
        case "threshold":
            words = "left for the digest: its weight of {figure:.2f} is below {limit:.2f} (attention.threshold)"
            return tr(words, figure=figure, limit=limit)
        case "dismissals":
            words = "left for the digest: you dismissed three like it, so its weight is {figure:.2f}, below {limit:.2f}"
            return tr(words, figure=figure, limit=limit)
        case "quiet":
            return tr("held: the quiet hours last until {until}", until=until)
        case "daily":
            return tr("left for the digest: {count:.0f} of {most:.0f} were sent today", count=figure, most=limit)
        case "interval":
            words = (
                "held until {until}: the last one was sent {figure:.0f} minutes before, {limit:.0f} must lie between"
            )
            return tr(words, until=until, figure=figure, limit=limit)
        case "digest":
            return counted(int(figure), "sent: the digest of 1 notice", "sent: the digest of {count} notices")


def _delivery(
    receipt: NoticeReceipt, others: Mapping[str, NoticeReceipt], now: datetime, is_watched: bool
) -> list[str]:
    decided, lines = receipt.decision.decided, list[str]()
    if receipt.channel != receipt.chosen:
        failed = "{channel} could not deliver it: {problem}"
        lines.append(row("failed", tr(failed, channel=receipt.chosen, problem=receipt.problem)))
    if receipt.delivered_at is not None:
        sentence = "by {channel} at {time}: {proof}"
        when = format_time(receipt.delivered_at, now)
        lines.append(row("proof", tr(sentence, channel=receipt.channel, time=when, proof=receipt.proof)))
    elif decided == "sent":
        sentence = tr("not yet, by {channel}", channel=receipt.channel)
        if receipt.tries and receipt.problem:
            tries = counted(receipt.tries, "1 try", "{count} tries")
            sentence += tr("; {tries}, the last one: {problem}", tries=tries, problem=receipt.problem)
        lines.append(row("proof", sentence))
    elif decided == "digest":
        lines += _listing(receipt, others, now)
    if receipt.may_have_arrived:
        lines.append(row("perhaps", tr("it may have been shown twice: the program was ended while it was sent")))
    if not is_watched and (receipt.is_undelivered or decided == "held"):
        lines.append(row("waits", tr("for a daemon, which sends it: vault-agent daemon")))
    return lines


def _listing(receipt: NoticeReceipt, others: Mapping[str, NoticeReceipt], now: datetime) -> list[str]:
    digest = others.get(receipt.digest)
    if digest is None:
        return [row("digest", tr("the next one, in the morning, lists it"))]
    lines = [row("digest", tr("{code} lists it", code=notice_code(digest.id)))]
    return lines + _delivery(digest, {}, now, is_watched=True)


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

    def text() -> str:
        lines = [notice_line(each, workspace.clock.now()) for each in open_ledger(workspace).all()[-most:]]
        return as_lines(lines) or tr("there was nothing to say yet")

    output.emit(lambda: {"notices": notices.list_notices(workspace).notices[: most or None][::-1]}, text)


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
    sentence = tr("noted: {code}", code=notice_code(done.notice))
    if done.halved:
        kind = notices.find_notice(open_ledger(workspace), done.notice).raised.type
        sentence += tr("; notices of the type {type} count half until you find one helpful", type=kind)
    output.emit(done, sentence)


@click.command()
@words_argument("text")
@click.option("--type", "kind", default="note", show_default=True, help="What kind of notice it is, in one word.")
@click.option(
    "--priority", type=click.FloatRange(0, 1), default=0.8, show_default=True, help="How important it is, from 0 to 1."
)
@click.option("--urgent", is_flag=True, help="Send it also in quiet hours, and beyond the day's number.")
@click.option("--channel", default="", metavar="NAME", help="The channel it goes to, such as daily or mail.")
@click.pass_obj
def notify(output: Output, text: str, kind: str, priority: float, urgent: bool, channel: str) -> None:
    """Raise a notice with TEXT: it is sent, held, dropped or left for the digest, as attention decides.

    A running daemon sends it; without one it is sent from here. `vault-agent notices why` explains the decision later.
    """
    title, *lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    if not title:
        raise UserError("there is nothing to say", hint='vault-agent notices notify "The kettle is on"')
    if not kind.isidentifier() or kind == DIGEST:
        raise UserError("{kind} cannot be the type of a notice", hint="use one word, such as reminder", kind=kind)
    workspace = open_workspace(output.vault())
    outbox = open_outbox(workspace)
    available = outbox.channels()
    if channel and channel not in available:
        names = listed(available)
        raise UserError("the channel {name} is not set up", hint="these are: {names}", name=channel, names=names)
    watched = is_watched(workspace)
    if not watched:
        outbox.review()
    taken = outbox.take(NoticeRaised(kind, priority, title, tuple(lines), channel=channel, urgent=urgent))
    if not watched:
        outbox.deliver(never)
    others = {each.id: each for each in outbox.ledger.all()}
    receipt, now = others.get(taken.id, taken), workspace.clock.now()
    rows = [notice_line(receipt, now), *notice_story(receipt, others, now, watched)[2:]]
    output.emit(lambda: {"notice": notice(receipt, others)}, as_lines(rows))
