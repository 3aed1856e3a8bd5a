"""Notices: what the agent wanted to say, what became of it, and the person's opinion."""

from collections.abc import Mapping

from agent.app.notice_ledger import open_ledger
from agent.attention.receipt import NoticeReceipt, Reaction
from agent.attention.receipts import NoticeLedger
from agent.attention.rules import is_often_dismissed
from agent.deeds.result import ResultValue, ShortName
from agent.runs.short_ids import NotFound, find_by_id
from agent.workspace.workspace import Workspace

_NOT_FOUND = NotFound(
    "there is no notice with the id {name}", "several notices end in {name}", "vault-agent notices list"
)


class Notice(ResultValue, frozen=True):
    """A notice: `decision` is sent, held, dropped or digest, by the `rule`; `proof` is that of its delivery."""

    id: str
    at: str
    type: str
    priority: float
    decision: str
    rule: str
    channel: str
    proof: str | None
    title: str


class ListedNotices(ResultValue, frozen=True):
    """The notices of this machine, the newest first."""

    notices: list[Notice]


class WholeNotice(Notice, frozen=True, kw_only=True):
    """A notice with its lines. `figure` and `limit` are what the rule compared, `until` when it is held no more."""

    lines: list[str]
    tries: int
    problem: str | None
    reaction: str | None
    delivered: str | None
    figure: float | None
    limit: float | None
    until: str | None


class Noted(ResultValue, frozen=True):
    """The opinion; `halved`: notices of this type count half from now on."""

    notice: str
    reaction: str
    halved: bool


def list_notices(workspace: Workspace) -> ListedNotices:
    """What the agent wanted to say."""
    receipts = open_ledger(workspace).all()
    others = {each.id: each for each in receipts}
    return ListedNotices([notice(each, others) for each in receipts[::-1]])


def notice(receipt: NoticeReceipt, others: Mapping[str, NoticeReceipt]) -> Notice:
    """A notice; what a digest lists was brought by the digest's channel."""
    brought = others.get(receipt.digest, receipt)
    return Notice.of(
        receipt, receipt.raised, receipt.decision, decision=receipt.decision.decided,
        channel=brought.channel, proof=brought.proof,
    )  # fmt: skip


def show_notice(workspace: Workspace, id: ShortName) -> WholeNotice:
    """One notice, and why it was sent or not."""
    ledger = open_ledger(workspace)
    receipt = find_notice(ledger, id)
    short = notice(receipt, {each.id: each for each in ledger.all()})
    return WholeNotice.of(short, receipt, receipt.raised, receipt.decision, delivered=receipt.delivered_at)


def react(workspace: Workspace, id: ShortName, reaction: Reaction) -> Noted:
    """Say whether a notice was worth it; after three dismissals in a row its type counts half."""
    ledger = open_ledger(workspace)
    receipt = find_notice(ledger, id)
    ledger.react(receipt.id, reaction)
    return Noted(receipt.id, reaction, is_often_dismissed(receipt.raised.type, ledger.all()))


def find_notice(ledger: NoticeLedger, name: str) -> NoticeReceipt:
    """The notice with this id or end of an id; raises `UserError`."""
    return find_by_id(name, ledger.all(), _NOT_FOUND)
