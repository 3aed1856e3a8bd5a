"""A feed: the last events of something that goes on, with their numbers, for readers that come, leave and come back."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import field
from itertools import islice
from typing import Generic, TypeVar

from agent.dataclass import dataclass

T = TypeVar("T")

KEPT = 2_000
"""Events that a feed keeps for a reader who comes back."""
KEPT_AT_REST = 100
"""The same when nothing has come for a while: those of a burst lie among what it has left, and keep that memory."""


@dataclass(frozen=True, slots=True)
class FeedItem(Generic[T]):
    """An event with its number in the feed, from 1."""

    number: int
    event: T


@dataclass(slots=True, eq=False)
class Feed(Generic[T]):
    """The events so far, the oldest dropped beyond `most`. Thread-safe."""

    most: int = KEPT
    closed: bool = False
    _items: deque[FeedItem[T]] = field(default_factory=deque)
    _last: int = 0
    _listeners: list[Callable[[], object]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, event: T) -> None:
        """Add an event and wake the listeners."""
        with self._lock:
            self._last += 1
            self._items.append(FeedItem(self._last, event))
            self._drop(self.most)
            listeners = list(self._listeners)
        for wake in listeners:
            wake()

    def close(self) -> None:
        """No event follows; the listeners are woken a last time."""
        with self._lock:
            self.closed = True
            listeners = list(self._listeners)
        for wake in listeners:
            wake()

    def shorten(self, most: int) -> None:
        """Drop all but the newest events now; later ones are kept as before."""
        with self._lock:
            self._drop(most)

    def _drop(self, most: int) -> None:
        while len(self._items) > most:
            self._items.popleft()

    @property
    def last(self) -> int:
        """The number of the newest event, 0 before the first."""
        return self._last

    def after(self, number: int) -> tuple[FeedItem[T], ...]:
        """The events that came after that number, the oldest first.

        The first one's number is greater than `number + 1` if some were dropped since.
        """
        with self._lock:
            new = min(self._last - number, len(self._items))
            return tuple(islice(reversed(self._items), new))[::-1] if new > 0 else ()

    def listen(self, wake: Callable[[], object]) -> Callable[[], None]:
        """Call `wake` after each event, on the thread that put it; the result ends that."""
        with self._lock:
            self._listeners.append(wake)

        def leave() -> None:
            with self._lock:
                self._listeners.remove(wake)

        return leave
