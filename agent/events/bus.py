"""The bus: calls the handlers of each event one after the other, and catches their errors.

A handler with a timeout runs on the bus's own thread, which is abandoned when the handler hangs; one without a timeout
runs on the publisher's thread. All handlers get an event before the next event. An event that a handler cannot receive
(it hangs, or is over its rate limit) is counted and dropped: a handler that must not miss a change compares with the
files, as the index does.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import field, replace
from enum import StrEnum
from queue import Empty, Full, Queue, SimpleQueue
from threading import Event
from typing import Any, Required, TypedDict, TypeVar, Unpack, overload

from agent.clock import Clock
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

    `delivered`: handled. `late`: took longer than the timeout. `skipped`: arrived while an earlier call was still
    hanging. `limited`: above the rate limit.
    """

    delivered: int = 0
    failed: int = 0
    late: int = 0
    skipped: int = 0
    limited: int = 0
    error: str = ""


@dataclass(slots=True)
class Subscriber:
    """A handler with its options and counts. `hanging` is the event that is set when a call past its timeout ends.

    `delivered` counts the events that were handled, apart from the others: a daemon at rest handles ten a second.
    """

    name: str
    kinds: tuple[type, ...]
    call: Callable[[Any], Answer]
    priority: int
    timeout: float | None
    per_minute: int | None
    delivered: int = 0
    others: Counts = field(default_factory=Counts)
    times: deque[float] = field(default_factory=deque)
    hanging: Event | None = None
    but: tuple[type, ...] = ()

    @property
    def counts(self) -> Counts:
        """All counts."""
        return replace(self.others, delivered=self.delivered)

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


BACKLOG = 10_000
"""The maximum number of events in the queue of `publish_async`."""

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
logger = logging.getLogger(__name__)


def ignore_event(event: object) -> None:
    """Do nothing: the publish function of code that runs without a bus."""


@dataclass(slots=True)
class _Call:
    subscriber: Subscriber
    event: object
    answer: SimpleQueue[tuple[Injection, ...]] = field(default_factory=SimpleQueue)
    done: threading.Event = field(default_factory=threading.Event)


class _Worker:
    """A thread that calls handlers. A hanging one is abandoned and ends with its call."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[_Call | None] = SimpleQueue()
        self.thread = threading.Thread(target=self._run, name="vault-agent-bus", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (call := self.calls.get()) is not None:
            injections = _perform(call.subscriber, call.event)
            call.done.set()
            call.answer.put(injections)


def _perform(subscriber: Subscriber, event: object) -> tuple[Injection, ...]:
    """Call a handler; the result is what it injects. Any exception is counted and not raised."""
    try:
        injections = tuple(subscriber.call(event) or ())
    except Exception as error:  # a bug in one subscriber must not stop the others or the daemon
        subscriber.count(failed=1, error=f"{type(error).__name__}: {error}".splitlines()[0])
        logger.warning("%s failed on %s", subscriber.name, type(event).__name__, exc_info=True)
        return ()
    subscriber.delivered += 1
    return injections


class Bus:
    """Subscribers by event type. Uses one or two threads from the first event until `close`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._subscribers: list[Subscriber] = []
        self._of_kind: dict[type, list[Subscriber]] = {}
        self._turn = threading.RLock()
        self._worker: _Worker | None = None
        self._waiting: Queue[object] = Queue(BACKLOG)
        self._poster: threading.Thread | None = None
        self._closed = False
        self.dropped = 0
        self.observer: Callable[[Handled], object] = ignore_event
        """Called after each call of a handler, on the same thread; for metrics."""

    @overload
    def subscribe(self, handler: Callable[[A], Answer], a: type[A], /, **terms: Unpack[Terms]) -> None: ...
    @overload
    def subscribe(
        self, handler: Callable[[A | B], Answer], a: type[A], b: type[B], /, **terms: Unpack[Terms]
    ) -> None: ...
    @overload
    def subscribe(
        self, handler: Callable[[A | B | C], Answer], a: type[A], b: type[B], c: type[C], /, **terms: Unpack[Terms]
    ) -> None: ...
    @overload
    def subscribe(
        self,
        handler: Callable[[A | B | C | D], Answer],
        a: type[A],
        b: type[B],
        c: type[C],
        d: type[D],
        /,
        **terms: Unpack[Terms],
    ) -> None: ...
    def subscribe(self, handler: Callable[[Any], Answer], *kinds: type, **terms: Unpack[Terms]) -> None:
        """Call `handler` with every event of these types (one to four; subclasses too).

        Raises `ValueError` for a name that is already in use.
        """
        name = terms["name"]
        if any(each.name == name for each in self._subscribers):
            raise ValueError(f"there is a subscriber named {name} already")
        limits = (terms.get("priority", 0), terms.get("timeout", TIMEOUT), terms.get("per_minute"))
        added = Subscriber(name, kinds, self._observed(name, handler), *limits, but=terms.get("but", ()))
        self._subscribers = sorted([*self._subscribers, added], key=lambda each: -each.priority)
        self._of_kind = {}

    def publish(self, event: object) -> tuple[Injection, ...]:
        """Call all handlers of an event; the result is what they inject, highest priority first.

        An event that a handler publishes is delivered at once, before the other handlers get the outer event.
        """
        worker = self._worker
        if worker is not None and threading.current_thread() is worker.thread:
            injected = [_perform(each, event) for each in self._hearers(event)]
        else:
            with self._turn:
                injected = [self._tell(each, event) for each in self._hearers(event)]
        return tuple(sorted((injection for each in injected for injection in each), key=lambda each: -each.priority))

    def publish_async(self, event: object) -> bool:
        """Queue an event for delivery in order, without waiting; injections are dropped.

        False, and counted in `dropped`, when the queue is full or the bus is closed.
        """
        try:
            if self._closed:
                raise Full
            if not self._subscribers:
                return True
            self._waiting.put_nowait(event)
        except Full:
            self.dropped += 1
            return False
        if self._poster is None:
            self._poster = threading.Thread(target=self._post, name="vault-agent-post", daemon=True)
            self._poster.start()
        return True

    def counts(self) -> dict[str, Counts]:
        """The counts of events by subscriber's name."""
        return {each.name: each.counts for each in self._subscribers}

    def close(self, timeout: float = TIMEOUT) -> bool:
        """Deliver the queued events, then stop; False if that took longer than `timeout` seconds."""
        self._closed = True
        poster, self._poster = self._poster, None
        if poster is not None:
            with suppress(Full):
                self._waiting.put(_END, timeout=timeout)
            poster.join(timeout)
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.calls.put(None)
        return poster is None or not poster.is_alive()

    def _observed(self, name: str, handler: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
        """The handler, with each of its calls reported to the observer."""

        def call(event: object) -> Answer:
            began, injections = self._clock.monotonic(), tuple[Injection, ...]()
            try:
                injections = tuple(handler(event) or ())
                return injections
            finally:
                self.observer(Handled(name, self._clock.monotonic() - began, injections))

        return call

    def _hearers(self, event: object) -> list[Subscriber]:
        known, kind = self._of_kind, type(event)  # this very table, as a subscriber that comes now makes another one
        if kind not in known:
            heard = (each for each in self._subscribers if issubclass(kind, each.kinds))
            known[kind] = [each for each in heard if not issubclass(kind, each.but)]
        now = self._clock.monotonic()
        return [each for each in known[kind] if each.admits(now)]

    def _tell(self, subscriber: Subscriber, event: object) -> tuple[Injection, ...]:
        if subscriber.timeout is None:
            return _perform(subscriber, event)
        if self._worker is None:
            self._worker = _Worker()
        call = _Call(subscriber, event)
        self._worker.calls.put(call)
        try:
            return call.answer.get(timeout=subscriber.timeout)
        except Empty:
            subscriber.count(late=1, error=f"took longer than {subscriber.timeout:g} s")
            logger.warning("%s takes longer than %g s on an event", subscriber.name, subscriber.timeout)
            subscriber.hanging = call.done
            self._worker.calls.put(None)
            self._worker = None
            return ()

    def _post(self) -> None:
        while (event := self._waiting.get()) is not _END:
            self.publish(event)


_END = object()
