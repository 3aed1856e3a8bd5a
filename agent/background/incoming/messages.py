"""What comes in through channels: one poll after the other for each, and the answers to what the owner wrote.

A client of the pool. A message is on disk before the channel is told that it arrived, and its answer before it is sent:
whenever the program is stopped, each message is worked on once, and an answer that may have been sent twice says so.
"""

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from agent.attention.channels.channel import Channel, Inbound, Message
from agent.background.failures import failure_text, log_failure
from agent.background.incoming.queue import MessageQueue, PendingMessage
from agent.background.incoming.response import NoteOpinion, Responder, refuse_opinion
from agent.background.pool import Pool, Priority
from agent.background.resume import OpenRuns, session_key
from agent.clock import in_machine_seconds
from agent.errors import AgentError, Interrupted, LockHeld, Retryable
from agent.events.types import DaemonStarted, Tick
from agent.llm.provider import Cancelled
from agent.loop.outcome import Ended
from agent.texts import text
from agent.workspace.workspace import Workspace

QUEUES = "incoming"
"""The folder of the queues in the vault's private folder."""
LONGEST_PAUSE, REFUSED = 600.0, 300.0
"""The longest pause in seconds between two tries, and that after a refusal."""
LOOK = 5.0
"""Seconds between two looks at a run that waits for its person."""
GIVE_UP = 12
"""The tries to send an answer: over an hour. Its session's note has it in any case."""
SETTINGS = 60.0
"""Seconds between two looks at whether channels were set up or switched off."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Messenger:
    """A service in both directions; a thread uses one of the two at a time."""

    inbound: Inbound
    channel: Channel


@dataclass(slots=True)
class _Line:
    """One messenger at work; times are on the machine's monotonic clock."""

    messenger: Messenger
    queue: MessageQueue
    due: float = 0.0
    failed: int = 0
    problem: str = ""
    polling: "Future[None] | None" = None
    working: dict[int, "Future[None]"] = field(default_factory=dict)


@dataclass(slots=True)
class IncomingMessages:
    """The messages of one vault's daemon. `open_messengers` returns those that are configured, by name; None while the
    settings are as at its last call; `note_opinion` is as for `Responder`."""

    workspace: Workspace
    pool: Pool
    open_runs: OpenRuns
    open_messengers: Callable[[], Mapping[str, Messenger] | None]
    note_opinion: NoteOpinion = refuse_opinion
    _lines: dict[str, _Line] = field(default_factory=dict, init=False)
    _settings_at: float = field(default=0.0, init=False)
    _settings_problem: str = field(default="", init=False)

    @property
    def problem(self) -> str:
        """What does not work, in one line; empty if all does."""
        return self._settings_problem or next((each.problem for each in self._lines.values() if each.problem), "")

    def start(self, _: DaemonStarted) -> None:
        """Take up what an earlier process left."""
        self._open(self._now)

    def tick(self, _: Tick) -> None:
        """Listen, and work on what has come in."""
        now = self._now
        if now >= self._settings_at:
            self._open(now)
        for name, line in self._lines.items():
            if now >= line.due and (line.polling is None or line.polling.done()):
                work = partial(self._receive, name, line)
                line.polling = self.pool.submit(work, key=f"listen {name}", priority=Priority.LISTENING, patience=1.0)
            self._work(name, line, now)

    def take_in(self, ended: Ended) -> None:
        """A run has ended: look at once whether it answers a message."""
        for line in self._lines.values():
            for entry in line.queue.waiting:
                if entry.session == ended.session and entry.phase == "waits":
                    entry.due = 0.0

    @property
    def _now(self) -> float:
        return in_machine_seconds(self.workspace.clock).monotonic()

    def _open(self, now: float) -> None:
        self._settings_at = now + SETTINGS
        try:
            found = self.open_messengers()
        except AgentError as error:
            self._settings_problem = failure_text(error)
            return
        self._settings_problem = ""
        if found is not None:
            self._lines = {name: self._line(name, each) for name, each in found.items()}

    def _line(self, name: str, messenger: Messenger) -> _Line:
        if name in self._lines:  # its settings have changed, not what has come in
            before = self._lines[name]
            return _Line(messenger, before.queue, polling=before.polling, working=before.working)
        vault = self.workspace.vault
        queue = MessageQueue(vault.private_folder / QUEUES / f"{name}.json", vault.masked)
        queue.load()
        for entry in queue.waiting:
            entry.again = entry.phase == "sending"
            if entry.phase == "waits":  # it may have been stopped after the decision
                entry.phase = "running"
        return _Line(messenger, queue)

    def _receive(self, name: str, line: _Line, cancelled: Cancelled) -> None:
        """One poll, in its thread. Raises nothing."""
        inbound = line.messenger.inbound
        try:
            received = inbound.receive(line.queue.position, cancelled)
            line.queue.take_in(received, inbound.owner, self.workspace.clock.new_id)
            line.due, line.failed, line.problem = 0.0, 0, ""
        except Interrupted:
            return
        except (AgentError, OSError) as error:
            line.failed += 1
            pause = max(_pause(error, line.failed), 1.0)
            line.problem = log_failure(logger, name, error, line.problem)
            line.due = self._now + pause
        except Exception as error:  # a bug in one channel must not end the others, nor go unseen
            logger.warning("%s: what came in cannot be read", name, exc_info=True)
            line.problem, line.due = failure_text(error), self._now + REFUSED

    def _work(self, name: str, line: _Line, now: float) -> None:
        """Have the first message of each chat worked on, and look at the runs that wait."""
        busy: set[str] = set()
        for entry in list(line.queue.waiting):
            chat = entry.message.chat
            if entry.phase == "waits":
                if now >= entry.due and not self.pool.has(session_key(entry.session)):
                    entry.due = now + LOOK
                    self._look(name, line, entry)
                continue
            key = f"message {name} {chat}"
            if chat not in busy and now >= entry.due and not self.pool.has(key):
                self.pool.submit(partial(self._respond, name, line, entry), key=key, priority=Priority.NOTE)
            busy.add(chat)

    def _look(self, name: str, line: _Line, entry: PendingMessage) -> None:
        try:
            Responder(self.workspace, self.open_runs, line.queue, name).look(entry)
        except (AgentError, OSError) as error:
            line.problem = log_failure(logger, name, error, line.problem)

    def _respond(self, name: str, line: _Line, entry: PendingMessage, cancelled: Cancelled) -> None:
        """Work on a message and send the answer, in its thread. Raises nothing."""
        responder = Responder(self.workspace, self.open_runs, line.queue, name, self.note_opinion)
        try:
            if entry.phase in ("new", "running"):
                responder.respond(entry, cancelled)
                entry.due = self._now + 1.0  # if it was stopped in the middle
            if entry.phase in ("answered", "sending"):
                self._send(line, entry, cancelled)
        except (LockHeld, Interrupted):
            entry.due = self._now + 1.0
        except (AgentError, OSError) as error:
            self._retry(name, line, entry, error)
        except Exception as error:  # a bug in one run must not end the daemon's others, nor go unseen
            logger.warning("%s: a message could not be answered", name, exc_info=True)
            self._fail(line, entry, failure_text(error))

    def _send(self, line: _Line, entry: PendingMessage, cancelled: Cancelled) -> None:
        """Send the answer; it is written down before that it may be sent."""
        with line.queue.changing():
            entry.phase = "sending"
        told = Message(entry.id, "", entry.text, entry.choices, entry.message.chat, entry.message.id, again=entry.again)
        line.messenger.channel.send(told, cancelled)
        if entry.waits_for:
            with line.queue.changing():
                entry.phase, entry.id, entry.again = "waits", self.workspace.clock.new_id(), False
            entry.due = self._now + LOOK
        else:
            line.queue.done(entry)

    def _retry(self, name: str, line: _Line, entry: PendingMessage, error: AgentError | OSError) -> None:
        """Try again later what may pass; what will not is said, once, in the chat or in the log."""
        is_sending = entry.phase == "sending"
        line.problem = log_failure(logger, name, error, line.problem)
        entry.tries += 1
        if not isinstance(error, Retryable | OSError) or entry.tries >= GIVE_UP:
            if is_sending:
                logger.warning("%s: the answer was not delivered; it is in %s", name, entry.session or "nothing")
                line.queue.done(entry)
            else:
                self._fail(line, entry, failure_text(error))
            return
        entry.again = entry.again or is_sending
        entry.due = self._now + _pause(error, entry.tries)

    def _fail(self, line: _Line, entry: PendingMessage, why: str) -> None:
        with line.queue.changing():
            entry.phase, entry.tries, entry.waits_for, entry.choices = "answered", 0, "", ()
            failed = text("messages.failed", self.workspace.settings.vault.language, reason=why)
            entry.text = self.workspace.vault.masked(failed)


def _pause(error: Exception, tries: int) -> float:
    """Seconds until the next try: what the service asked for, else more each time."""
    if not isinstance(error, Retryable | OSError):
        return REFUSED
    asked = error.delay if isinstance(error, Retryable) else 0.0
    return max(asked, min(2.0 ** (tries - 1), LONGEST_PAUSE))
