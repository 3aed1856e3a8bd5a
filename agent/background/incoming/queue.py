"""The messages of one channel that are not answered yet, on disk: position, waiting messages, ids of the handled ones.

Messages and the position after them are written together: whatever a kill cuts off, the service gives again or the file
has.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from agent.attention.channels.channel import Choice, Incoming, Received
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.vault import durable

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
    waits for. `due` is on the monotonic clock.
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


@dataclass(slots=True)
class MessageQueue:
    """The queue of one channel. Thread-safe; `load` before use. `mask` covers up secrets in what is written."""

    path: Path
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
        """Take in what the file has. A damaged file is an empty queue: the service begins anew."""
        try:
            said = parse_json(self.path.read_text("utf-8"))
            waiting = [_parse(each) for each in said["waiting"]]
            handled, position, strangers = map(str, said["handled"]), str(said["position"]), int(said["strangers"])
            answered = {str(id): str(path) for id, path in said.get("sessions", {}).items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return
        self.position, self.strangers, self.waiting = position, strangers, waiting
        self.sessions = answered
        self._handled.extend(handled)

    def take_in(self, received: Received, owner: str, new_id: Callable[[], str]) -> None:
        """Add the owner's new messages and go on to the position after them, in one write; others are only counted."""
        with self.changing():
            known = {*self._handled, *(each.message.id for each in self.waiting)}
            for message in received.messages:
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
        """Write the queue at the end of the block, durably, if it has changed; others wait until then."""
        with self._lock:
            before = self._text() if self.path.exists() else ""
            yield
            after = self._text()
            if after != before:
                durable.replace(self.path, after)

    def _text(self) -> str:
        waiting = [self._document(each) for each in self.waiting]
        document = {
            "position": self.position,
            "strangers": self.strangers,
            "waiting": waiting,
            "handled": list(self._handled),
            "sessions": self.sessions,
        }
        return json.dumps(document, ensure_ascii=False)

    def _document(self, entry: PendingMessage) -> dict[str, object]:
        message = entry.message
        told, foreign = self.mask(message.text), self.mask(message.foreign)
        subject, heading = self.mask(message.subject), self.mask(message.heading)
        masked = replace(message, text=told, foreign=foreign, subject=subject, heading=heading)
        document = asdict(replace(entry, message=masked, text=self.mask(entry.text)))
        document["message"]["at"] = message.at.isoformat()
        del document["due"]
        return document


def _parse(document: dict[str, object]) -> PendingMessage:
    said, choices = document["message"], document["choices"]
    if not isinstance(said, dict) or not isinstance(choices, list) or document["phase"] not in get_args(MessagePhase):
        raise ValueError
    was_passed_on = said.get("forwarded") is True  # as an earlier version wrote it
    told, subject = str(said["text"]), str(said.get("subject", ""))
    heading = said.get("heading", subject if said.get("begins") is True and not was_passed_on else "")
    message = Incoming(
        str(said["id"]),
        str(said["sender"]),
        str(said["chat"]),
        "" if was_passed_on else told,
        datetime.fromisoformat(str(said["at"])),
        said["group"] is True,
        str(said["answers"]),
        told if was_passed_on else str(said.get("foreign", "")),
        subject,
        str(heading),
        said.get("begins") is True,
    )
    return PendingMessage(
        message,
        str(document["id"]),
        cast(MessagePhase, document["phase"]),
        str(document["session"]),
        str(document["run"]),
        str(document["waits_for"]),
        str(document["text"]),
        tuple(Choice(str(each["label"]), str(each["reply"])) for each in choices),
        document["again"] is True,
        int(str(document["tries"])),
    )
