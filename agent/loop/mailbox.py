"""Messages that people send during a run; the run takes its own sender's messages at its next step."""

import threading
from collections import deque
from dataclasses import dataclass, field

from agent.llm.messages import User


@dataclass(slots=True)
class Mailbox:
    """Messages in the order of their arrival; may be filled from another thread."""

    _waiting: deque[User] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, message: User) -> None:
        """Leave a message."""
        with self._lock:
            self._waiting.append(message)

    def take(self, sender: str) -> tuple[User, ...]:
        """The messages of this sender, taken out; in a group, those of others wait for a run of their own."""
        with self._lock:
            taken = tuple(message for message in self._waiting if message.sender == sender)
            self._waiting = deque(message for message in self._waiting if message.sender != sender)
        return taken

    def first(self) -> User | None:
        """The message that has waited longest, taken out; None when none waits."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    def has_from(self, sender: str) -> bool:
        """True when a message of this sender waits."""
        with self._lock:
            return any(message.sender == sender for message in self._waiting)
