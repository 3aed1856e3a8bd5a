"""What a person says to a run that goes on: messages during it, and answers to its questions."""

import threading
from collections import deque
from dataclasses import field
from datetime import datetime

from agent.dataclass import dataclass
from agent.events.runs import HumanResponse
from agent.llm.messages import ToolResult, User
from agent.loop.records import ASKS_A_PERSON, Spoken
from agent.loop.session import Session
from agent.tools.builtin.human import ANSWERED
from agent.tools.registry import Called
from agent.tools.tool import RunContext


@dataclass(slots=True)
class Mailbox:
    """Messages in the order of their arrival; another thread may add to it."""

    _waiting: deque[User] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, message: User) -> None:
        """Add a message."""
        with self._lock:
            self._waiting.append(message)

    def take(self, sender: str) -> tuple[User, ...]:
        """Remove and return the messages of this sender; in a group, those of others wait for a separate run."""
        with self._lock:
            taken = tuple(message for message in self._waiting if message.sender == sender)
            self._waiting = deque(message for message in self._waiting if message.sender != sender)
        return taken

    def first(self) -> User | None:
        """Remove and return the oldest message; None if there is none."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    def has_from(self, sender: str) -> bool:
        """True if there is a message of this sender."""
        with self._lock:
            return any(message.sender == sender for message in self._waiting)


_MOST = 3


def answers_in(session: Session, run: str) -> tuple[str, ...]:
    """The last answers in a run, the newest last."""
    messages = (event.message for event in session.of_run(run) if isinstance(event, Spoken))
    found = [answer_of(each) for each in messages if isinstance(each, ToolResult)]
    return tuple(filter(None, found))[-_MOST:]


def response_of(result: ToolResult, called: Called, context: RunContext, now: datetime) -> HumanResponse | None:
    """The event of an answer that a call has brought; None for any other result."""
    answer = answer_of(result)
    path = called.output.sources[0].path if called.output and called.output.sources else ""
    return HumanResponse(result.call, path, answer, now, context.run) if answer else None


def answer_of(result: ToolResult) -> str:
    """The person's answer that a call has brought; empty for any other result."""
    is_answer = result.name == ASKS_A_PERSON and not result.failed and result.text.startswith(ANSWERED)
    return result.text.removeprefix(ANSWERED) if is_answer else ""
