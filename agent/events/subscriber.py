"""A subscriber of the bus: what it wants to hear, on which terms, and what became of it.

Whom to tell and in which order is the bus's.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, Required, TypedDict

from agent.events.receipt import Receipt

TIMEOUT = 10.0
"""Seconds that a handler has by default. Ten: long for a write to a vault or an index, short for a person who waits."""
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Injection:
    """Text that a handler wants in front of the model; higher `priority` first.

    `receipts` are for the notes that it stands in; the loop pins those without a commit, as a handler has little time.
    """

    text: str
    source: str
    priority: int = 0
    receipts: tuple[Receipt, ...] = ()


Answer = Iterable[Injection] | None
"""What a handler returns."""


class Terms(TypedDict, total=False):
    """How a handler wants to be called: higher `priority` first, `timeout` in seconds, at most `per_minute` times.

    A handler without a timeout (None) is called on the publisher's own thread, and may take as long as it needs.
    """

    name: Required[str]
    priority: int
    timeout: float | None
    per_minute: int | None


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the events meant for one subscriber; `error` is the last failure in one line.

    `late`: took longer than the timeout. `skipped`: came while an earlier call was still hanging. `limited`: came
    faster than the rate limit allows.
    """

    told: int = 0
    failed: int = 0
    late: int = 0
    skipped: int = 0
    limited: int = 0
    error: str = ""


@dataclass(slots=True)
class Subscriber:
    """A handler with its terms and what became of its calls. `hanging` is set when a call that was left behind ends."""

    name: str
    kinds: tuple[type, ...]
    call: Callable[[Any], Answer]
    priority: int
    timeout: float | None
    per_minute: int | None
    counts: Counts = field(default_factory=Counts)
    times: deque[float] = field(default_factory=deque)
    hanging: Event | None = None

    def count(self, **changes: int | str) -> None:
        """Add to the counts of these names, and set `error`."""
        added = {k: v if isinstance(v, str) else getattr(self.counts, k) + v for k, v in changes.items()}
        self.counts = replace(self.counts, **added)  # type: ignore[arg-type]  # each value has its field's type

    def admits(self, now: float) -> bool:
        """Whether it may be told now; counts why not."""
        if self.hanging is not None and not self.hanging.is_set():
            self.count(skipped=1)
            return False
        self.hanging = None
        if self.per_minute is None:
            return True
        while self.times and self.times[0] <= now - _MINUTE:
            self.times.popleft()
        if len(self.times) >= self.per_minute:
            self.count(limited=1)
            return False
        self.times.append(now)
        return True
