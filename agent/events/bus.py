"""The bus: calls the handlers of each event one after the other, and catches their errors.

A handler with a timeout runs on the bus's own thread, which is abandoned when the handler hangs; one without a timeout
runs on the publisher's thread. All handlers get an event before the next event. An event that a handler cannot receive
(it hangs, or is over its rate limit) is counted and dropped: a handler that must not miss a change compares with the
files, as the index does.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from queue import Empty, Full, Queue, SimpleQueue
from typing import Any, TypeVar, Unpack, overload

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.events.subscriber import TIMEOUT, Answer, Counts, Handled, Injection, Subscriber, Terms

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
    subscriber.told += 1
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
            told = [_perform(each, event) for each in self._hearers(event)]
        else:
            with self._turn:
                told = [self._tell(each, event) for each in self._hearers(event)]
        return tuple(sorted((injection for each in told for injection in each), key=lambda each: -each.priority))

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
