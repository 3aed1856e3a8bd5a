"""The messages of one channel that are not answered yet, kept: position, waiting messages, ids of the handled ones.

Messages and the position after them are written together: whatever a kill cuts off, the service gives again or it is
kept.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Literal, TypeAlias

from agent.attention.channels.channel import Choice, Incoming, Received
from agent.dataclass import dataclass
from agent.records.database import Records
from agent.records.table import Table

HANDLED = 1_000
"""The ids of the last messages that are remembered: a service gives only a few again."""
ANSWERED = 300
"""The last answers whose sessions are remembered: a reply to one goes on with its session."""

MessagePhase: TypeAlias = Literal["new", "running", "waits", "answered", "sending"]
"""`new`: nothing was done. `running`: its run has begun. `waits`: its run waits for the person, who was told.
`answered`: the answer is to be sent. `sending`: it may have been sent."""


@dataclass(slots=True)
class PendingMessage:
    """A message of the owner's that is not done with.

    `id` is that of the answer's message. `session` and `run` are those of its run, `waits_for` is the note that the run
    waits for. `due` is on the monotonic clock. `remarks` are told below the answer: what became of its files.
    """

    message: Incoming
    id: str
    phase: MessagePhase = "new"
    session: str = ""
    run: str = ""
    waits_for: str = ""
    text: str = ""
    choices: tuple[Choice, ...] = ()
    again: bool = False
    tries: int = 0
    due: float = 0.0
    remarks: str = ""


@dataclass(frozen=True, slots=True)
class StoredMessages:
    """The stored state of one channel; the fields are those of `MessageQueue`."""

    position: str
    strangers: int
    waiting: tuple[PendingMessage, ...]
    handled: tuple[str, ...]
    sessions: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class MessageQueue:
    """The queue of the channel of this name. Thread-safe; `load` before use. `mask` covers up secrets in it."""

    records: Records
    name: str
    mask: Callable[[str], str]
    position: str = ""
    strangers: int = 0
    """The number of messages from others than the owner, which were left unanswered."""
    waiting: list[PendingMessage] = field(default_factory=list)
    sessions: dict[str, str] = field(default_factory=dict)
    """The paths of the sessions in which the last answers were given, by the channel's ids of those."""
    _handled: deque[str] = field(default_factory=lambda: deque(maxlen=HANDLED))
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def load(self) -> None:
        """Take in what was kept. Where it is damaged, the queue is empty: the service begins anew."""
        if (stored := self._table.get(self.name)) is not None:
            self.position, self.strangers, self.waiting = stored.position, stored.strangers, list(stored.waiting)
            self.sessions = stored.sessions
            self._handled.extend(stored.handled)

    def take_in(self, received: Received, owner: str, new_id: Callable[[], str]) -> None:
        """Add the owner's new messages and go on to the position after them, in one write; others are only counted, and
        what is overheard is left out."""
        with self.changing():
            known = {*self._handled, *(each.message.id for each in self.waiting)}
            for message in (each for each in received.messages if not each.is_overheard):
                if not owner or message.sender != owner:
                    self.strangers += 1
                elif message.id not in known:
                    known.add(message.id)
                    self.waiting.append(PendingMessage(message, new_id()))
            self.position = received.position

    def done(self, entry: PendingMessage) -> None:
        """Remove a message that is done with; it is known from now on."""
        with self.changing():
            self.waiting = [each for each in self.waiting if each is not entry]
            self._handled.append(entry.message.id)

    def note_answer(self, id: str, session: str) -> None:
        """Remember that the message with this id of the channel's was sent from a session."""
        with self.changing():
            self.sessions.pop(id, None)
            self.sessions[id] = session
            for each in list(self.sessions)[:-ANSWERED]:
                del self.sessions[each]

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep the queue as it is at the end of the block, durably, if it has changed; others wait until then."""
        with self._lock:
            before = self._stored() if self._table.has(self.name) else None
            yield
            after = self._stored()
            if after != before:
                self._table.put(after, self.name)

    @property
    def _table(self) -> Table[StoredMessages]:
        return Table(self.records, "incoming", StoredMessages)

    def _stored(self) -> StoredMessages:
        waiting = tuple(map(self._without_secrets, self.waiting))
        return StoredMessages(self.position, self.strangers, waiting, tuple(self._handled), dict(self.sessions))

    def _without_secrets(self, entry: PendingMessage) -> PendingMessage:
        message, mask = entry.message, self.mask
        masked = replace(
            message,
            text=mask(message.text),
            foreign=mask(message.foreign),
            subject=mask(message.subject),
            heading=mask(message.heading),
        )
        return replace(entry, message=masked, text=mask(entry.text), due=0.0)
