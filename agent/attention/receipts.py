"""The ledger of notices on this machine, a JSON line for each decision, and for each thing that became of it.

It is the outbox, too: what was decided to be sent and has no proof is sent again after a kill. Lines are on disk when a
call returns. A line that is damaged counts for nothing; receipts are left out after a year. Safe to use from several
threads and processes: `deciding` lets one at a time decide.
"""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import TypeAlias, cast, get_args

from agent.attention.receipt import AttentionRule, NoticeDecision, NoticeReceipt, Reaction
from agent.clock import Clock
from agent.events.notices import Decided, NoticeRaised
from agent.json_value import parse_json
from agent.records.database import Records
from agent.records.table import Lines
from agent.vault.layout import NOTICES

KEPT = timedelta(days=366)
_MANY = 5_000
"""Lines after which old ones are left out at the start."""
_Field: TypeAlias = str | float | bool | list[str] | dict[str, str | float | bool | list[str]] | None
_Line: TypeAlias = Mapping[str, _Field]


class NoticeLedger:
    """The ledger of one vault. Raises `Permanent` when it cannot be used, `Retryable` while others hold it."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records, self._clock, self._lines = records, clock, Lines(records, NOTICES)
        self._mutex = threading.RLock()
        self._receipts: dict[str, NoticeReceipt] = {}
        with self._mutex:
            self._take_in()
            self._shorten()

    @property
    def mark(self) -> int:
        """Another number after each line, for a look that costs nothing else."""
        return self._lines.mark

    def all(self) -> tuple[NoticeReceipt, ...]:
        """All receipts, in the order in which the notices were raised."""
        with self._mutex:
            self._take_in()
            return tuple(self._receipts.values())

    def get(self, id: str) -> NoticeReceipt | None:
        """The receipt of a notice."""
        with self._mutex:
            self._take_in()
            return self._receipts.get(id)

    @contextmanager
    def deciding(self) -> Iterator[tuple[NoticeReceipt, ...]]:
        """Be the only one who decides, on this machine; yields all receipts."""
        with self._mutex, self._records.transaction():
            self._take_in()
            yield tuple(self._receipts.values())

    def add(
        self, id: str, raised: NoticeRaised, decision: NoticeDecision, channel: str, listed: Sequence[str] = ()
    ) -> NoticeReceipt:
        """Note a notice and what was decided about it. `listed` are the notices in a digest."""
        notice = {**asdict(raised), "lines": list(raised.lines)}
        self._append(id, "raised", notice=notice, channel=channel, listed=list(listed), **_fields_of(decision))
        return self._receipts[id]

    def decide(self, id: str, decision: NoticeDecision) -> None:
        """Note a later decision about a notice that was held."""
        self._append(id, "decided", **_fields_of(decision))

    def begin(self, id: str) -> None:
        """Note that a try to send it begins."""
        self._append(id, "begun")

    def fail(self, id: str, problem: str, delay: float, *, may_have_arrived: bool = False) -> None:
        """Note that a try has failed; the next one is due after `delay` seconds."""
        more: dict[str, _Field] = {"perhaps_shown": True} if may_have_arrived else {}
        self._append(id, "failed", problem=problem, delay=delay, **more)

    def fall_back(self, id: str, channel: str) -> None:
        """Note that it goes to another channel now."""
        self._append(id, "fell_back", channel=channel)

    def stand_in(self, id: str, place: str) -> None:
        """Note that it stands at a place in the vault until its channel proves it."""
        self._append(id, "stands_in", place=place)

    def deliver(self, id: str, proof: str) -> None:
        """Note the channel's proof."""
        self._append(id, "delivered", proof=proof)

    def react(self, id: str, reaction: Reaction) -> None:
        """Note what its person said; the last word counts. One that they dismiss is not delivered any more."""
        with self.deciding():
            self._append(id, "reacted", reaction=reaction)
            found = self._receipts.get(id)
            if reaction == "dismissed" and found is not None and found.is_still_to_come:
                self.decide(id, NoticeDecision("dropped", "over"))

    def _append(self, id: str, step: str, **fields: _Field) -> None:
        line = json.dumps({"id": id, "step": step, "at": self._clock.now().isoformat(), **fields}, ensure_ascii=False)
        with self._mutex:
            self._lines.append(line)
            self._take_in()

    def _take_in(self) -> None:
        """Parse the lines that were added since the last time, also by other processes."""
        is_other, lines = self._lines.news()
        if is_other:
            self._receipts = {}
        for line in lines:
            if (fields := _parse_fields(line)) is not None:
                self._take(fields)

    def _take(self, line: _Line) -> None:
        """Apply one line; one that cannot be understood counts for nothing."""
        try:
            id, at = _text(line, "id"), _moment(line, "at")
            if line.get("step") == "raised":
                receipt = _raised(id, at, line)
                for each in receipt.listed:
                    if each in self._receipts:
                        self._receipts[each] = replace(self._receipts[each], digest=id)
            else:
                receipt = _stepped(self._receipts[id], at, line)
        except (KeyError, TypeError, ValueError):
            return
        self._receipts[id] = receipt

    def _shorten(self) -> None:
        """Leave out the lines of receipts that are older than `KEPT`, once there are many."""
        if self._lines.count <= _MANY:
            return
        with self._records.transaction():
            self._take_in()
            newest = max((each.at for each in self._receipts.values()), default=self._clock.now())
            recent_ids = {id for id, each in self._receipts.items() if each.at >= newest - KEPT}
            parsed = ((line, _parse_fields(line)) for line in self._lines.all())
            left = [line for line, fields in parsed if fields and fields.get("id") in recent_ids]
            if len(left) < self._lines.count:
                self._lines.replace(left)
        self._take_in()


def unheard_reminders(receipts: Iterable[NoticeReceipt]) -> tuple[NoticeReceipt, ...]:
    """The reminders that no channel has proved yet."""
    return tuple(each for each in receipts if each.is_undelivered and each.is_reminder)


def _fields_of(decision: NoticeDecision) -> dict[str, _Field]:
    return {
        "decided": decision.decided,
        "rule": decision.rule,
        "until": decision.until.isoformat() if decision.until else None,
        "figure": decision.figure,
        "limit": decision.limit,
    }


def _parse_fields(line: str) -> _Line | None:
    try:
        found = parse_json(line)
    except ValueError:
        return None
    return cast(_Line, found) if isinstance(found, dict) else None


def _raised(id: str, at: datetime, line: _Line) -> NoticeReceipt:
    """The receipt that a first line begins; raises `KeyError`, `TypeError` or `ValueError` for a damaged one."""
    fields = line["notice"]
    if not isinstance(fields, dict):
        raise TypeError(fields)
    raised = NoticeRaised(
        _text(fields, "type"),
        _number(fields, "priority"),
        _text(fields, "title"),
        _texts(fields, "lines"),
        _text(fields, "subject"),
        _text(fields, "channel"),
        fields["urgent"] is True,
        _text(fields, "decides"),
        _text(fields, "due") if "due" in fields else "",
    )
    channel, decision = _text(line, "channel"), _decision(line)
    return NoticeReceipt(id, at, raised, decision, decision, at, channel, channel, _texts(line, "listed"))


def _stepped(receipt: NoticeReceipt, at: datetime, line: _Line) -> NoticeReceipt:
    """The receipt after a later line; raises as `_raised` does."""
    match line["step"]:
        case "decided":
            return replace(receipt, decision=_decision(line), decided_at=at)
        case "begun":
            may_have_arrived = receipt.may_have_arrived or receipt.has_begun
            return replace(receipt, tries=receipt.tries + 1, has_begun=True, may_have_arrived=may_have_arrived)
        case "failed":
            problem, delay = _text(line, "problem"), _number(line, "delay")
            may_have_arrived = receipt.may_have_arrived or line.get("perhaps_shown") is True
            failed = replace(receipt, has_begun=False, failed_at=at, problem=problem, delay=delay)
            return replace(failed, may_have_arrived=may_have_arrived)
        case "fell_back":
            return replace(receipt, channel=_text(line, "channel"), tries=0, failed_at=None, delay=0.0)
        case "stands_in":
            return replace(receipt, stands_in=_text(line, "place"))
        case "delivered":
            return replace(receipt, has_begun=False, proof=_text(line, "proof"), delivered_at=at)
        case "reacted":
            reaction = _text(line, "reaction")
            if reaction not in get_args(Reaction):
                raise ValueError(reaction)
            return replace(receipt, reaction=cast(Reaction, reaction), reacted_at=at)
        case other:
            raise ValueError(other)


def _decision(line: _Line) -> NoticeDecision:
    decided, rule, until = _text(line, "decided"), _text(line, "rule"), line["until"]
    if decided not in get_args(Decided) or rule not in get_args(AttentionRule):
        raise ValueError(rule)
    return NoticeDecision(
        cast(Decided, decided),
        cast(AttentionRule, rule),
        _moment(line, "until") if until is not None else None,
        _number(line, "figure"),
        _number(line, "limit"),
    )


def _text(fields: Mapping[str, object], key: str) -> str:
    found = fields[key]
    if not isinstance(found, str):
        raise TypeError(key)
    return found


def _texts(fields: Mapping[str, object], key: str) -> tuple[str, ...]:
    found = fields[key]
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise TypeError(key)
    return tuple(found)


def _number(fields: Mapping[str, object], key: str) -> float:
    found = fields[key]
    if not isinstance(found, int | float) or isinstance(found, bool):
        raise TypeError(key)
    return float(found)


def _moment(fields: Mapping[str, object], key: str) -> datetime:
    found = datetime.fromisoformat(_text(fields, key))
    if found.tzinfo is None:
        raise ValueError(key)
    return found
