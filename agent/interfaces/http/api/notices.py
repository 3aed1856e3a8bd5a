"""Notices: what the agent wanted to say, what became of it, and the person's opinion."""

from typing import Annotated, Literal

import msgspec

from agent.app.notice_ledger import open_ledger
from agent.attention.notice_document import notice_document
from agent.attention.receipt import NoticeReceipt
from agent.attention.receipts import NoticeLedger
from agent.attention.rules import is_often_dismissed
from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.api.typed import typed
from agent.interfaces.http.operation import Call, Operation
from agent.runs.short_ids import NotFound, find_by_id

_NOT_FOUND = NotFound(
    "there is no notice with the id {name}", "several notices end in {name}", "vault-agent notices list"
)


class ByNotice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A notice by its id or the end of it."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class Notice(msgspec.Struct, frozen=True):
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


class NoticeList(msgspec.Struct, frozen=True):
    """The notices of this machine, the newest first."""

    notices: list[Notice]
    next_cursor: NEXT


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


class Opinion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the person thinks of a notice."""

    reaction: Literal["helpful", "not_helpful", "dismissed"]


class Noted(msgspec.Struct, frozen=True):
    """The opinion; `halved`: notices of this type count half from now on."""

    notice: str
    reaction: str
    halved: bool


def list_notices(call: Call[ListParams, None]) -> NoticeList:
    """What the agent wanted to say."""
    receipts = open_ledger(call.service.workspace).all()
    others = {each.id: each for each in receipts}
    shown, after = page_of(receipts[::-1], lambda each: each.id, call.params)
    found = [{**notice_document(each, others), "title": each.raised.title} for each in shown]
    return NoticeList(typed(found, list[Notice]), after)


def show_notice(call: Call[ByNotice, None]) -> WholeNotice:
    """One notice, and why it was sent or not."""
    ledger = open_ledger(call.service.workspace)
    receipt = _find(ledger, call.params.id)
    others = {each.id: each for each in ledger.all()}
    decided = receipt.decision
    more = {
        "title": receipt.raised.title,
        "lines": list(receipt.raised.lines),
        "tries": receipt.tries,
        "problem": receipt.problem or None,
        "reaction": receipt.reaction or None,
        "delivered": receipt.delivered_at.isoformat() if receipt.delivered_at else None,
        "figure": decided.figure,
        "limit": decided.limit,
        "until": decided.until.isoformat() if decided.until else None,
    }
    return typed({**notice_document(receipt, others), **more}, WholeNotice)


def react(call: Call[ByNotice, Opinion]) -> Noted:
    """Say whether a notice was worth it; after three dismissals in a row its type counts half."""
    ledger = open_ledger(call.service.workspace)
    receipt = _find(ledger, call.params.id)
    ledger.react(receipt.id, call.body.reaction)
    return Noted(receipt.id, call.body.reaction, is_often_dismissed(receipt.raised.type, ledger.all()))


def _find(ledger: NoticeLedger, name: str) -> NoticeReceipt:
    return find_by_id(name, ledger.all(), _NOT_FOUND)


OPERATIONS = (
    Operation("GET", "/api/v1/notices", "list_notices", "What the agent wanted to say", list_notices, NoticeList,
              ListParams),
    Operation("GET", "/api/v1/notices/{id}", "show_notice", "One notice", show_notice, WholeNotice, ByNotice,
              problems=(404,)),
    Operation("POST", "/api/v1/notices/{id}/react", "react", "An opinion about a notice", react, Noted, ByNotice,
              Opinion, 200, (404,)),
)  # fmt: skip
