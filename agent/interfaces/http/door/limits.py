"""Limits on requests: so many a second from all clients together, and so many wrong tokens."""

import threading
from dataclasses import field

from agent.clock import Clock
from agent.dataclass import dataclass


@dataclass(slots=True)
class TokenBucket:
    """A bucket that fills with `per_second` and holds at most `most`. Thread-safe."""

    clock: Clock
    per_second: float
    most: float
    _left: float = field(init=False)
    _at: float = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._left, self._at = self.most, self.clock.monotonic()

    def take(self) -> float:
        """Seconds until one more is allowed; 0 if it is allowed now, and is taken."""
        with self._lock:
            self._fill()
            if self._left >= 1:
                self._left -= 1
                return 0.0
            return (1 - self._left) / self.per_second

    def _fill(self) -> None:
        now = self.clock.monotonic()
        self._left = min(self.most, self._left + (now - self._at) * self.per_second)
        self._at = now
