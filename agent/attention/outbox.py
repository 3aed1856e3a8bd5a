"""The outbox of one vault: takes in notices, decides by the rules, and delivers what is to be sent, until it is proved.

One process delivers at a time, to all channels side by side: what a channel has to send goes out in order, in a thread
of its own, so that none waits for one that hangs. A try is noted before it begins, so that after a kill in the middle
the next one can say that it may be the second. A channel that cannot deliver is left for the daily note after some
tries; a reminder stands there after the first one, and is tried by its channel for a week.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from agent.attention.channels.channel import Channel, Choice, Message
from agent.attention.lateness import late_line
from agent.attention.receipt import NoticeDecision, NoticeReceipt, notice_code
from agent.attention.receipts import NoticeLedger
from agent.attention.rules import (
    Limits,
    decide,
    decide_when,
    digest_items,
    earliest_delivery,
    in_turn,
    next_look,
)
from agent.clock import Clock, in_machine_seconds
from agent.config.private import hold
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted, PerhapsDone, Retryable, Stopping
from agent.events.notices import NoticeRaised, NotificationSent, NotificationSuppressed
from agent.llm.messages import Cancelled, never
from agent.texts import Language, text

DAILY = "daily"
"""The channel that is always there: the daily note."""
DIGEST = "digest"
"""The type of a digest; no notice may have it."""
TRIES = 4
"""Tries after which a notice goes to the daily note."""
FIRST, LONGEST = 5.0, 600.0
"""Seconds until the second try, four times as long after each; and the longest that is waited for a channel."""
REMINDED = timedelta(days=7)
"""How long a reminder is tried by a channel that fails: after the first day once an hour."""
_FIRST_DAY, _HOUR = timedelta(days=1), 3600.0
LOCAL = frozenset({DAILY, "terminal", "desktop"})
"""The channels that reach only somebody who is at this machine: notices go there if they are named."""
_AT_ONCE = float("-inf")
_LOOK = 0.25
"""Seconds between two looks at what else is to be sent while a channel is at it."""
_LISTED = 10
"""The most notices that a digest names."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Outbox:
    """`limits` and `channels` (by name, the one that is chosen first) are asked for anew each time; `publish` is told
    what was sent and what was not. `masked` covers up secrets. `choices` returns the buttons with which the note at a
    path is decided. `lock` is the file that the process holds which delivers.
    """

    ledger: NoticeLedger
    clock: Clock
    limits: Callable[[], Limits]
    channels: Callable[[], Mapping[str, Channel]]
    language: Language
    lock: Path
    publish: Callable[[object], object]
    masked: Callable[[str], str]
    choices: Callable[[str], tuple[Choice, ...]]
    _not_before: dict[str, float] = field(default_factory=dict, init=False)
    """The machine's monotonic time of the next try, by the id of the notice."""
    _busy: frozenset[str] = field(default=frozenset(), init=False)
    """The channels that are sending."""
    _telling: threading.Lock = field(default_factory=threading.Lock, init=False)

    def take(self, notice: NoticeRaised, id: str = "") -> NoticeReceipt:
        """Decide about a notice and note it, once for each `id` (default: a new one).

        Raises `Retryable` or `Permanent` when that cannot be noted.
        """
        notice = self._without_secrets(notice)
        channel = self._route(notice.channel)
        with self.ledger.deciding() as past:
            if id and (known := self.ledger.get(id)) is not None:
                return known
            decision = decide(notice, past, self.limits(), self.clock.now(), channel)
            receipt = self.ledger.add(id or self.clock.new_id(), notice, decision, channel)
        self._tell(receipt)
        return receipt

    def take_back(self, id: str) -> bool:
        """Drop a notice of which what it tells is over; False if it was shown, or is being sent."""
        with self.ledger.deciding():
            receipt = self.ledger.get(id)
            if receipt is None or receipt.may_have_arrived or receipt.has_begun or not receipt.is_still_to_come:
                return False
            self.ledger.decide(id, NoticeDecision("dropped", "over"))
            receipt = self.ledger.get(id)
        if receipt is not None:
            self._tell(receipt)
        return True

    def review(self) -> None:
        """Decide again about what is held, and begin the digest when it is due."""
        now, limits = self.clock.now(), self.limits()
        with self.ledger.deciding() as past:
            held = in_turn(each for each in past if each.decision.decided == "held")
            decided = []
            for each in held:
                decision = decide_when(each.raised.type, self.ledger.all(), limits, now)
                if decision.decided == "held":
                    continue
                self.ledger.decide(each.id, decision)
                decided.append(each.id)
            items = digest_items(self.ledger.all(), limits, now)
            if items:
                decided.append(self._begin_digest(items))
        for id in decided:
            if (receipt := self.ledger.get(id)) is not None:
                self._tell(receipt)

    def deliver(self, cancelled: Cancelled) -> bool:
        """Send what is due, and what becomes due while a channel is at it; False if another process delivers.

        Returns when no channel has anything to send. Whatever a channel raises is noted, not raised.
        """
        with hold(self.lock, in_machine_seconds(self.clock), 0.0) as held:
            if held is None:
                return False
            lines: dict[str, Future[None]] = {}
            problems: list[BaseException] = []
            stop = threading.Event()

            def is_over() -> bool:
                return stop.is_set() or cancelled()

            try:
                while True:
                    for name in [each for each, line in lines.items() if line.done()]:
                        problem = lines.pop(name).exception()
                        problems += [problem] if problem is not None else []
                    if not problems and not cancelled():
                        lines |= self._begun(frozenset(lines), is_over)
                    self._busy = frozenset(lines)
                    if not lines:
                        break
                    wait(lines.values(), _LOOK, FIRST_COMPLETED)
            finally:
                stop.set()  # nothing is sent any more once the lock is given back
                wait(lines.values())
                self._busy = frozenset()
        if problems:
            raise problems[0]
        return True

    def _begun(self, busy: frozenset[str], cancelled: Cancelled) -> "dict[str, Future[None]]":
        """A thread for each channel that has something to send and is not at it."""
        due: dict[str, list[str]] = {}
        past, now, limits = self.ledger.all(), self.clock.now(), self.limits()
        for each in past:
            if not each.is_undelivered or each.channel in busy:
                continue
            if self.is_due([(earliest_delivery(each, past, limits, now), self._tried_from(each))]):
                due.setdefault(each.channel, []).append(each.id)
        available = self.channels() if due else {}
        works = {name: partial(self._send_all, ids, available.get(name), cancelled) for name, ids in due.items()}
        return {name: _in_thread(work) for name, work in works.items()}

    def _send_all(self, ids: Sequence[str], channel: Channel | None, cancelled: Cancelled) -> None:
        """One try for each of a channel's notices, in order."""
        for id in ids:
            if cancelled():
                return
            self._try(id, channel, cancelled)

    def undelivered(self) -> tuple[NoticeReceipt, ...]:
        """The notices that are to be sent and have no proof, the oldest first."""
        return tuple(each for each in self.ledger.all() if each.is_undelivered)

    def text_of(self, delivery_id: str) -> str:
        """The words of the notice that a channel has shown under this id of its own; empty if there is none."""
        for each in self.ledger.all():
            if each.delivered_at is not None and delivery_id and each.proof.split()[-1:] == [delivery_id]:
                return "\n".join((each.raised.title, *each.raised.lines))
        return ""

    def looks(self) -> tuple[tuple[datetime, float], ...]:
        """When what waits may be sent or listed: by the date, and by the machine's monotonic time; empty while nothing
        waits. What a channel has to send that is at it is not asked for."""
        past, limits, now = self.ledger.all(), self.limits(), self.clock.now()
        waiting = [each for each in past if each.is_undelivered and each.channel not in self._busy]
        found = [(earliest_delivery(each, past, limits, now), self._tried_from(each)) for each in waiting]
        others = next_look(past, limits, now)
        return (*found, (others, _AT_ONCE)) if others is not None else tuple(found)

    def is_due(self, looks: Iterable[tuple[datetime, float]]) -> bool:
        """True if one of these moments has come."""
        now, seconds = self.clock.now(), in_machine_seconds(self.clock).monotonic()
        return any(date <= now and from_seconds <= seconds for date, from_seconds in looks)

    @property
    def mark(self) -> int:
        """Another one once anything was noted, by whichever process."""
        return self.ledger.mark

    def _try(self, id: str, channel: Channel | None, cancelled: Cancelled) -> None:
        """One try to send a notice by its channel, if there is one; what came of it is noted."""
        self.ledger.begin(id)
        receipt = self.ledger.get(id)
        if receipt is None:
            return
        if channel is None:
            self._fail(receipt, text("notices.no_channel", self.language, channel=receipt.channel), 0.0, False)
            return
        try:
            proof = channel.send(self.message(receipt), cancelled)
        except Interrupted:
            return  # as after a kill: the next try says that it may be the second
        except Stopping as error:
            self._fail(receipt, error.message, 0.0, True)
        except Retryable as error:
            self._fail(receipt, error.message, error.delay, True, isinstance(error, PerhapsDone))
        except (AgentError, OSError) as error:
            self._fail(receipt, error.message if isinstance(error, AgentError) else str(error), 0.0, False)
        except Exception as error:  # a bug in one channel must not keep the notice from its person
            logger.warning("the channel %s failed", receipt.channel, exc_info=True)
            self._fail(receipt, f"{type(error).__name__}: {error}", 0.0, False)
        else:
            self.ledger.deliver(id, self.masked(proof))
            self._not_before.pop(id, None)
            with self._telling:
                self.publish(NotificationSent(id, receipt.raised.type, receipt.channel, proof))

    def _fail(
        self, receipt: NoticeReceipt, problem: str, delay: float, may_work_later: bool, may_have_arrived: bool = False
    ) -> None:
        """Note a failure: another try later, or the daily note next."""
        longest = self._longest_wait(receipt)
        wait = max(delay, min(FIRST * 4.0 ** min(receipt.tries - 1, 9), longest))
        self.ledger.fail(receipt.id, self.masked(problem), wait, may_have_arrived=may_have_arrived)
        self._not_before[receipt.id] = in_machine_seconds(self.clock).monotonic() + wait
        logger.info("%s by %s: %s", receipt.id, receipt.channel, problem)
        if receipt.channel == DAILY:
            return
        is_recent_reminder = receipt.is_reminder and self.clock.now() - receipt.at < REMINDED
        if is_recent_reminder and receipt.channel in self.channels():
            self._stand_in(receipt, problem)
        elif receipt.stands_in:
            self.ledger.deliver(receipt.id, receipt.stands_in)
        elif is_recent_reminder or not may_work_later or receipt.tries >= TRIES or wait > LONGEST:
            self.ledger.fall_back(receipt.id, DAILY)
            self._not_before.pop(receipt.id, None)

    def _longest_wait(self, receipt: NoticeReceipt) -> float:
        """The most seconds until the next try."""
        is_old = receipt.is_reminder and self.clock.now() - receipt.at >= _FIRST_DAY
        return _HOUR if is_old and receipt.channel != DAILY else LONGEST

    def _stand_in(self, receipt: NoticeReceipt, problem: str) -> None:
        """Have a reminder stand in the daily note while its channel fails."""
        note = self.channels().get(DAILY)
        if receipt.stands_in or note is None:
            return
        message = self.message(replace(receipt, channel=DAILY))
        words = text("notices.tried_again", self.language, channel=receipt.channel, problem=self.masked(problem))
        try:
            place = note.send(replace(message, text=f"{message.text}\n{words}".strip()), never)
        except (AgentError, OSError) as error:  # the next failure of its channel tries this, too
            logger.info("%s is not in the daily note yet: %s", receipt.id, error)
        else:
            self.ledger.stand_in(receipt.id, place)

    def _tried_from(self, receipt: NoticeReceipt) -> float:
        """The machine's monotonic time of the next try; after a restart, by the date of the last one."""
        if receipt.failed_at is None:
            return _AT_ONCE
        if receipt.id not in self._not_before:
            passed = abs((self.clock.now() - receipt.failed_at).total_seconds())
            self._not_before[receipt.id] = in_machine_seconds(self.clock).monotonic() + max(0.0, receipt.delay - passed)
        return self._not_before[receipt.id]

    def message(self, receipt: NoticeReceipt) -> Message:
        """The message about a notice."""
        raised = receipt.raised
        late = late_line(raised, self.clock.now(), self.language)
        lines = [*raised.lines, *([late] if late else [])]
        is_note = receipt.channel == DAILY
        if is_note:
            lines = lines[-1:] if raised.decides else lines  # the link: what is decided stands in that note
            lines += [] if receipt.listed else [f"vault-agent notices why {notice_code(receipt.id)}"]
        choices = self.choices(raised.decides) if raised.decides and not is_note else ()
        return Message(receipt.id, raised.title, "\n".join(lines), choices, again=receipt.may_have_arrived)

    def _begin_digest(self, items: Iterable[NoticeReceipt]) -> str:
        """Note a digest that lists these notices; returns its id."""
        listed = in_turn(items)
        lines = [f"{notice_code(each.id)} · {each.raised.title}" for each in listed[:_LISTED]]
        if len(listed) > _LISTED:
            lines.append(text("notices.digest_more", self.language, count=len(listed) - _LISTED))
        lines.append(text("notices.digest_codes", self.language, code=notice_code(listed[0].id)))
        title = text("notices.digest_one" if len(listed) == 1 else "notices.digest", self.language, count=len(listed))
        id = self.clock.new_id()
        notice = NoticeRaised(DIGEST, 1.0, title, tuple(lines))
        decision = NoticeDecision("sent", "digest", figure=len(listed))
        self.ledger.add(id, notice, decision, self._route(""), [each.id for each in listed])
        return id

    def _route(self, asked: str) -> str:
        """The channel that was asked for if there is one of that name, else the first."""
        names = list(self.channels())
        return asked if asked in names else next(iter(names), DAILY)

    def _without_secrets(self, notice: NoticeRaised) -> NoticeRaised:
        lines = tuple(self.masked(each) for each in notice.lines)
        return replace(notice, title=self.masked(notice.title), lines=lines, subject=self.masked(notice.subject))

    def _tell(self, receipt: NoticeReceipt) -> None:
        """Publish that a notice is not sent now."""
        decision = receipt.decision
        if decision.decided != "sent":
            self.publish(NotificationSuppressed(receipt.id, receipt.raised.type, decision.decided, decision.rule))


def _in_thread(work: Callable[[], None]) -> "Future[None]":
    """Do the work in a thread of its own; what it raises is in the future."""
    future: Future[None] = Future()

    def run() -> None:
        try:
            work()
            future.set_result(None)
        except BaseException as error:  # noqa: BLE001  the waiting thread must get every error
            future.set_exception(error)

    threading.Thread(target=run, name="notices", daemon=True).start()
    return future


def preferred(available: Mapping[str, Channel], order: str) -> Mapping[str, Channel]:
    """The channels, the one first that notices go to: those that `order` names, then the others as they come, and last
    what is on this machine only (terminal, desktop, and the daily note)."""
    named = [each for each in order.replace(",", " ").split() if each in available]
    far = [each for each in available if each not in LOCAL]
    return {each: available[each] for each in dict.fromkeys((*named, *far, DAILY, *available)) if each in available}
