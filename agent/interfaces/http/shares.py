"""What was shared with the dashboard and waits for the person's yes: in memory, a few, for a few minutes."""

import secrets
import threading
from dataclasses import field

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.deeds.capture import Captured

_MOST, _SECONDS = 4, 600.0
"""How many wait at most, and how long."""


@dataclass(slots=True)
class Shares:
    """What waits, each for the browser to which it was given. Thread-safe."""

    clock: Clock
    _waiting: dict[str, tuple[str, float, Captured]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, browser: str, what: Captured) -> str:
        """Let it wait; returns its id. The oldest one goes when there are too many."""
        with self._lock:
            self._drop()
            while len(self._waiting) >= _MOST:
                del self._waiting[next(iter(self._waiting))]
            id = secrets.token_urlsafe(16)
            self._waiting[id] = browser, self.clock.monotonic(), what
            return id

    def find(self, browser: str, id: str) -> Captured | None:
        """What waits for a browser under an id; None if it is over."""
        with self._lock:
            self._drop()
            owner, _, what = self._waiting.get(id, ("", 0.0, None))
            return what if what is not None and owner == browser else None

    def done(self, id: str) -> None:
        """Forget what was kept."""
        with self._lock:
            self._waiting.pop(id, None)

    def _drop(self) -> None:
        late = [id for id, (_, at, _) in self._waiting.items() if self.clock.monotonic() - at > _SECONDS]
        for id in late:
            del self._waiting[id]
