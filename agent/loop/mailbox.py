"""Messages that people send during a run; the run takes its own sender's messages at its next step."""

import threading
from collections import deque
from dataclasses import field

from agent.dataclass import dataclass
from agent.llm.messages import User


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
