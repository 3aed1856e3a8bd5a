"""A subscriber of the bus: its event types, its limits and its counts. `bus` chooses subscribers and their order."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from enum import StrEnum
from threading import Event
from typing import Any, Required, TypedDict

from agent.dataclass import dataclass
from agent.events.receipt import Receipt

TIMEOUT = 10.0
"""The default timeout of a handler in seconds: long for a write to a vault or an index, short for a waiting person."""
_MINUTE = 60.0


class InjectionType(StrEnum):
    """What an injected text is to the model."""

    MEMORY_RECALL = "memory_recall"
    SKILL_ACTIVATION = "skill_activation"
    SUGGESTION = "suggestion"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Injection:
    """Text that a handler adds to the model's prompt; higher `priority` first.

    `source` is the name of the handler, shown to people and in the prompt. `receipts` are for the notes with this text;
    the loop adds missing commits, because a handler has little time.
    """

    text: str
    source: str
    priority: int = 0
    receipts: tuple[Receipt, ...] = ()
    type: InjectionType = InjectionType.SUGGESTION


@dataclass(frozen=True, slots=True)
class Handled:
    """One call of the handler named `subscriber`, with what it injected; nothing if it failed."""

    subscriber: str
    seconds: float
    injections: tuple[Injection, ...] = ()


Answer = Iterable[Injection] | None
"""The result of a handler."""


class Terms(TypedDict, total=False):
    """The options of a subscription: higher `priority` first, `timeout` in seconds, at most `per_minute` calls, and not
    for events of the types `but`.

    A handler without a timeout (None) is called on the publisher's own thread, without a time limit.
    """

    name: Required[str]
    priority: int
    timeout: float | None
    per_minute: int | None
    but: tuple[type, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of events for one subscriber, by result; `error` is the last failure in one line.

    `told`: handled. `late`: took longer than the timeout. `skipped`: arrived while an earlier call was still hanging.
    `limited`: above the rate limit.
    """

    told: int = 0
    failed: int = 0
    late: int = 0
    skipped: int = 0
    limited: int = 0
    error: str = ""


@dataclass(slots=True)
class Subscriber:
    """A handler with its options and counts. `hanging` is the event that is set when a call past its timeout ends.

    `told` counts the events that were handled, apart from the others: a daemon at rest handles ten a second.
    """

    name: str
    kinds: tuple[type, ...]
    call: Callable[[Any], Answer]
    priority: int
    timeout: float | None
    per_minute: int | None
    told: int = 0
    others: Counts = field(default_factory=Counts)
    times: deque[float] = field(default_factory=deque)
    hanging: Event | None = None
    but: tuple[type, ...] = ()

    @property
    def counts(self) -> Counts:
        """All counts."""
        return replace(self.others, told=self.told)

    def count(self, **changes: int | str) -> None:
        """Add numbers to the counts of these names; a text replaces `error`."""
        added = {k: v if isinstance(v, str) else getattr(self.others, k) + v for k, v in changes.items()}
        self.others = replace(self.others, **added)  # type: ignore[arg-type]  # each value has its field's type

    def admits(self, now: float) -> bool:
        """True if the handler may be called now; otherwise the reason is counted."""
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
