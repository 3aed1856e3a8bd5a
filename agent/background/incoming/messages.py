"""What comes in through channels: one poll after the other for each, and the answers to what the owner wrote.

A client of the pool. A message is on disk before the channel is told that it arrived, and its answer before it is sent:
whenever the program is stopped, each message is worked on once, and an answer that may have been sent twice says so.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import field
from datetime import date
from functools import partial

from agent.attention.channels.channel import Channel, FileSource, Inbound, Message, Received, UnreadItem
from agent.attention.channels.items import read_items
from agent.attention.set_aside import SetAside
from agent.background.failures import failure_text, log_failure
from agent.background.incoming.queue import MessageQueue, PendingMessage
from agent.background.incoming.response import NoticeText, Responder, group_talk, no_notice
from agent.background.part import PACE
from agent.background.pool import Pool, Priority
from agent.background.resume import OpenRuns, session_key
from agent.clock import in_machine_seconds
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted, LockHeld, Retryable
from agent.events.notices import NoticeRaised
from agent.events.types import DaemonStarted
from agent.llm.messages import Cancelled
from agent.loop.outcome import Ended
from agent.texts import Language, text
from agent.vault.layout import SET_ASIDE
from agent.workspace.workspace import Workspace

LONGEST_PAUSE, REFUSED = 600.0, 300.0
"""The longest pause in seconds between two tries, and that after a refusal."""
LOOK = 5.0
"""Seconds between two looks at a run that waits for its person."""
GIVE_UP = 12
"""The tries to send an answer: over an hour. Its session's note has it in any case."""
SETTINGS = 60.0
"""Seconds between two looks at whether channels were set up or switched off."""

UNREAD = 0.6
"""The priority of a notice that something cannot be read."""
_REPLIED = re.compile(r"^\s*(?:(?:re|aw|sv|回复|答复|回覆)\s*[:：]\s*)+", re.IGNORECASE)
"""What mail programs put before the subject of an answer."""

logger = logging.getLogger(__name__)


def drop_notice(notice: NoticeRaised) -> None:
    """Nothing: there is nobody to tell."""


@dataclass(frozen=True, slots=True)
class TwoWayChannel:
    """A channel in both directions: messages come in by `inbound`, answers go out by `outbound`. One thread
    at a time uses each of the two."""

    inbound: Inbound
    outbound: Channel


@dataclass(slots=True)
class _OpenChannel:
    """One channel and its messages; times are on the machine's monotonic clock."""

    channel: TwoWayChannel
    queue: MessageQueue
    due: float = 0.0
    failed: int = 0
    problem: str = ""
    polling: "Future[None] | None" = None


@dataclass(slots=True)
class IncomingMessages:
    """The messages of one vault's daemon. `changed_channels` returns those that are configured, by name; None while the
    settings are as at its last call; `notice_text` is as for `Responder`; `publish` raises a
    notice."""

    workspace: Workspace
    pool: Pool
    open_runs: OpenRuns
    changed_channels: Callable[[], Mapping[str, TwoWayChannel] | None]
    notice_text: NoticeText = no_notice
    publish: Callable[[NoticeRaised], object] = drop_notice
    _opened: dict[str, _OpenChannel] = field(default_factory=dict, init=False)
    _settings_at: float = field(default=0.0, init=False)
    _settings_problem: str = field(default="", init=False)

    @property
    def problem(self) -> str:
        """What does not work, in one line; empty if all does."""
        return self._settings_problem or next((each.problem for each in self._opened.values() if each.problem), "")

    def start(self, _: DaemonStarted) -> None:
        """Take up what an earlier process left."""
        self._open(self._now)

    def turn(self, _: float) -> float:
        """Listen, and work on what has come in."""
        now = self._now
        if now >= self._settings_at:
            self._open(now)
        for name, opened in self._opened.items():
            if now >= opened.due and (opened.polling is None or opened.polling.done()):
                work = partial(self._receive, name, opened)
                opened.polling = self.pool.submit(work, key=f"listen {name}", priority=Priority.LISTENING, patience=1.0)
            self._work(name, opened, now)
        return 0.0 if self._opened else PACE

    @property
    def asked(self) -> frozenset[str]:
        """The notes about which the person was asked in a chat, and which wait."""
        queues = [opened.queue for opened in self._opened.values()]
        return frozenset(entry.waits_for for queue in queues for entry in list(queue.waiting) if entry.waits_for)

    def take_in(self, ended: Ended) -> None:
        """A run has ended: look at once whether it answers a message."""
        for opened in self._opened.values():
            for entry in opened.queue.waiting:
                if entry.session == ended.session and entry.phase == "waits":
                    entry.due = 0.0

    def close(self) -> None:
        """End the connections of the channels; they are opened anew when their settings have changed."""
        for opened in self._opened.values():
            opened.channel.inbound.close()

    @property
    def _now(self) -> float:
        return in_machine_seconds(self.workspace.clock).monotonic()

    def _open(self, now: float) -> None:
        self._settings_at = now + SETTINGS
        try:
            found = self.changed_channels()
        except AgentError as error:
            self._settings_problem = failure_text(error)
            return
        self._settings_problem = ""
        if found is not None:
            self.close()
            self._opened = {name: self._open_channel(name, each) for name, each in found.items()}

    def _open_channel(self, name: str, channel: TwoWayChannel) -> _OpenChannel:
        if name in self._opened:  # its settings have changed, not what has come in
            before = self._opened[name]
            return _OpenChannel(channel, before.queue, polling=before.polling)
        vault = self.workspace.vault
        queue = MessageQueue(vault.records, name, vault.masked)
        queue.load()
        for entry in queue.waiting:
            entry.again = entry.phase == "sending"
            if entry.phase == "waits":  # it may have been stopped after the decision
                entry.phase = "running"
        return _OpenChannel(channel, queue)

    def _receive(self, name: str, opened: _OpenChannel, cancelled: Cancelled) -> None:
        """One poll, in its thread; it ends early when the channel's settings change. Raises nothing."""
        inbound = opened.channel.inbound

        def is_over() -> bool:
            return cancelled() or self._opened.get(name) is not opened

        try:
            self._read_again(name, opened)
            received = inbound.receive(opened.queue.position, is_over)
            self._set_aside(name, received.unread)
            group_talk(self.workspace, name).add(received.messages, inbound.owner, self.workspace.clock.now())
            opened.queue.take_in(received, inbound.owner, self.workspace.clock.new_id)
            received.confirm()
            opened.due, opened.failed, opened.problem = 0.0, 0, ""
        except Interrupted:
            return
        except (AgentError, OSError) as error:
            opened.failed += 1
            pause = max(_pause(error, opened.failed), 1.0)
            opened.problem = log_failure(logger, name, error, opened.problem)
            opened.due = self._now + pause
        except Exception as error:  # a bug in one channel must not end the others, nor go unseen
            logger.warning("%s: what came in cannot be read", name, exc_info=True)
            opened.problem, opened.due = failure_text(error), self._now + REFUSED

    def _set_aside(self, name: str, unread: Sequence[UnreadItem]) -> None:
        """Set aside what cannot be read, and say so once a day; raises `OSError`."""
        now = self.workspace.clock.now()
        new = [each for each in unread if self.unread.add(name, each, now)]
        for each in new:
            logger.warning("%s: a message cannot be read and is set aside: %s", name, each.why)
        if new:
            self.publish(unread_notice(name, now.date(), self.workspace.settings.vault.language))

    def _read_again(self, name: str, opened: _OpenChannel) -> None:
        """Take in what the person wants to have tried again, and can be read by now."""
        for item in self.unread.asked_again(name):
            read = read_items([self.unread.data(item)], opened.channel.inbound.reread, bytes)
            if read.unread:
                logger.warning("%s: %s cannot be read still: %s", name, item.id, read.unread[0].why)
                self.unread.give_up_again(item)
                continue
            received = Received(read.messages, opened.queue.position)
            opened.queue.take_in(received, opened.channel.inbound.owner, self.workspace.clock.new_id)
            self.unread.remove(item)

    @property
    def unread(self) -> SetAside:
        """The items that came in and cannot be read."""
        return SetAside(self.workspace.vault.private_folder / SET_ASIDE)

    def _work(self, name: str, opened: _OpenChannel, now: float) -> None:
        """Have the first message of each chat worked on, and look at the runs that wait."""
        busy: set[str] = set()
        for entry in list(opened.queue.waiting):
            chat = entry.message.chat
            if entry.phase == "waits":
                if now >= entry.due and not self.pool.has(session_key(entry.session)):
                    entry.due = now + LOOK
                    self._look(name, opened, entry)
                continue
            key = f"message {name} {chat}"
            if chat not in busy and now >= entry.due and not self.pool.has(key):
                self.pool.submit(partial(self._respond, name, opened, entry), key=key, priority=Priority.NOTE)
            busy.add(chat)

    def _look(self, name: str, opened: _OpenChannel, entry: PendingMessage) -> None:
        try:
            Responder(self.workspace, self.open_runs, opened.queue, name).look(entry)
        except (AgentError, OSError) as error:
            opened.problem = log_failure(logger, name, error, opened.problem)

    def _respond(self, name: str, opened: _OpenChannel, entry: PendingMessage, cancelled: Cancelled) -> None:
        """Work on a message and send the answer, in its thread. Raises nothing."""
        owner = opened.channel.inbound.owner
        files = inbound if isinstance(inbound := opened.channel.inbound, FileSource) else None
        responder = Responder(self.workspace, self.open_runs, opened.queue, name, self.notice_text, owner, files)
        try:
            if entry.phase in ("new", "running"):
                responder.respond(entry, cancelled)
                entry.due = self._now + 1.0  # if it was stopped in the middle
            if entry.phase in ("answered", "sending"):
                self._send(opened, entry, cancelled)
        except (LockHeld, Interrupted):
            entry.due = self._now + 1.0
        except (AgentError, OSError) as error:
            self._retry(name, opened, entry, error)
        except Exception as error:  # a bug in one run must not end the daemon's others, nor go unseen
            logger.warning("%s: a message could not be answered", name, exc_info=True)
            self._fail(opened, entry, failure_text(error))

    def _send(self, opened: _OpenChannel, entry: PendingMessage, cancelled: Cancelled) -> None:
        """Send the answer; it is written down before that it may be sent."""
        with opened.queue.changing():
            entry.phase = "sending"
        message = entry.message
        title = f"Re: {_REPLIED.sub('', message.subject)}" if message.subject else ""
        reply = Message(entry.id, title, entry.text, entry.choices, message.chat, message.id, again=entry.again)
        proof = opened.channel.outbound.send(reply, cancelled)
        if entry.session and proof:
            opened.queue.note_answer(proof.split()[-1], entry.session)
        if entry.waits_for:
            with opened.queue.changing():
                entry.phase, entry.id, entry.again = "waits", self.workspace.clock.new_id(), False
            entry.due = self._now + LOOK
        else:
            opened.queue.done(entry)

    def _retry(self, name: str, opened: _OpenChannel, entry: PendingMessage, error: AgentError | OSError) -> None:
        """Try again later what may pass; what will not is said, once, in the chat or in the log."""
        is_sending = entry.phase == "sending"
        opened.problem = log_failure(logger, name, error, opened.problem)
        entry.tries += 1
        if not isinstance(error, Retryable | OSError) or entry.tries >= GIVE_UP:
            if is_sending:
                logger.warning("%s: the answer was not delivered; it is in %s", name, entry.session or "nothing")
                opened.queue.done(entry)
            else:
                self._fail(opened, entry, failure_text(error))
            return
        entry.again = entry.again or is_sending
        entry.due = self._now + _pause(error, entry.tries)

    def _fail(self, opened: _OpenChannel, entry: PendingMessage, why: str) -> None:
        with opened.queue.changing():
            entry.phase, entry.tries, entry.waits_for, entry.choices = "answered", 0, "", ()
            failed = text("messages.failed", self.workspace.settings.vault.language, reason=why)
            entry.text = self.workspace.vault.masked(failed)


def unread_notice(channel: str, day: date, language: Language) -> NoticeRaised:
    """The notice that something cannot be read, the same one for all of a day: anybody can send such things."""
    title = text("notices.unread", language, channel=channel)
    lines = (text("notices.unread_more", language),)
    return NoticeRaised("unread_message", UNREAD, title, lines, subject=f"{channel} {day}")


def _pause(error: Exception, tries: int) -> float:
    """Seconds until the next try: what the service asked for, else more each time."""
    if not isinstance(error, Retryable | OSError):
        return REFUSED
    asked = error.delay if isinstance(error, Retryable) else 0.0
    return max(asked, min(2.0 ** (tries - 1), LONGEST_PAUSE))
