"""The one pool in which work goes on beside the daemon: each piece in a thread of its own, people first.

A client submits a function with a key and a priority and gets a `Future`. The pool decides when it begins: never two of
one key at the same time, a higher priority first, then the one that was submitted first. What the work is, and when it
is wanted, is its client's.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field
from enum import IntEnum
from functools import partial
from typing import Any, TypeVar

from agent.clock import Clock, in_machine_seconds
from agent.dataclass import dataclass
from agent.llm.messages import Cancelled

T = TypeVar("T")


class Priority(IntEnum):
    """For whom work is done; the smallest number begins first."""

    PERSON = 0
    """A person waits for it at a screen."""
    NOTE = 1
    """A person has asked for it in a note."""
    RESUMED = 2
    """A run goes on, now that its person has decided."""
    JOB = 3
    """It was planned for a time."""
    MAINTENANCE = 4
    """It keeps the vault in order."""
    NETWORK = 5
    """It mostly waits for other machines, and so begins at once and takes no place from runs."""
    LISTENING = 6
    """It waits for messages all day long: it begins at once, and nothing waits for its end or counts it as work."""


AT_ONCE = {Priority.NOTE: 2, Priority.RESUMED: 2, Priority.JOB: 1, Priority.MAINTENANCE: 1}
"""Work of a priority begins only while fewer pieces than this go on. Two: a model's answers are mostly waited for, and
two cores serve two runs. A job leaves one place free for what people ask in notes, also one that goes on after a
decision; maintenance waits for all others, and what a person waits for always begins at once."""


@dataclass(slots=True, eq=False)
class _Work:
    key: str
    priority: Priority
    number: int
    patience: float
    run: Callable[[], Any]
    future: "Future[Any]"
    thread: threading.Thread | None = None


@dataclass(frozen=True, slots=True)
class PoolState:
    """Keys of running and of waiting work, in the order in which they begin; without what only listens."""

    running: tuple[str, ...]
    waiting: tuple[str, ...]


@dataclass(slots=True)
class Pool:
    """The work of one daemon. Thread-safe; `close` asks all running work to stop.

    `idle` is called after work when nothing goes on any more, or only what listens.
    """

    clock: Clock
    idle: Callable[[], object] = lambda: None
    _works: list[_Work] = field(default_factory=list)
    _count: int = 0
    _closing: threading.Event = field(default_factory=threading.Event)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def submit(
        self,
        work: Callable[[Cancelled], T],
        *,
        key: str,
        priority: Priority,
        deadline: float | None = None,
        patience: float = 4.0,
    ) -> "Future[T]":
        """Have `work` done when its turn comes; its result, or what it raised, is in the future.

        The work is given a function that says whether to stop: the pool closes, or the deadline has passed.

        `deadline` is a time on the monotonic clock: work that has not begun by then is cancelled, work that goes on is
        asked to stop. `patience` is how many seconds it gets to end when the pool closes. A pool that closes cancels
        what it is given.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closing.is_set():
                future.cancel()
                return future
            self._count += 1
            run = partial(self._perform, work, future, deadline)
            self._works.append(_Work(key, priority, self._count, patience, run, future))
            self._works.sort(key=lambda each: (each.priority, each.number))
            self._begin()
        return future

    def has(self, key: str) -> bool:
        """True while work of this key is running or waiting."""
        with self._lock:
            return any(each.key == key for each in self._works)

    @property
    def state(self) -> PoolState:
        """The keys of the work that is running and of the work that waits."""
        with self._lock:
            works = [each for each in self._works if each.priority is not Priority.LISTENING]
            running = tuple(each.key for each in works if each.thread is not None)
            return PoolState(running, tuple(each.key for each in works if each.thread is None))

    def close(self) -> None:
        """Cancel what waits, ask what goes on to stop, and wait for each as long as its patience lasts."""
        with self._lock:
            self._closing.set()
            going_on = [each for each in self._works if each.thread is not None]
            for each in self._works:
                if each.thread is None:
                    each.future.cancel()
            self._works = going_on
        clock = in_machine_seconds(self.clock)
        began = clock.monotonic()
        for each in going_on:
            assert each.thread is not None
            each.thread.join(max(0.0, began + each.patience - clock.monotonic()))

    def _begin(self) -> None:
        """Begin whatever may begin now; the lock is held."""
        for each in list(self._works):
            if each.thread is None and self._may_begin(each):
                each.thread = threading.Thread(
                    target=self._run, args=(each,), name=f"vault-agent-{each.priority.name.lower()}", daemon=True
                )
                each.thread.start()

    def _may_begin(self, work: _Work) -> bool:
        going_on = [each for each in self._works if each.thread is not None]
        if any(each.key == work.key for each in going_on):
            return False
        uncounted = {Priority.LISTENING}
        if work.priority is not Priority.MAINTENANCE:  # which waits for all other work
            uncounted.add(Priority.NETWORK)
        counted = [each for each in going_on if each.priority not in uncounted]
        return len(counted) < AT_ONCE.get(work.priority, len(counted) + 1)

    def _run(self, work: _Work) -> None:
        """One piece of work, in its thread; then begin what has waited for its place."""
        try:
            work.run()
        finally:
            with self._lock:
                if work in self._works:
                    self._works.remove(work)
                if not self._closing.is_set():
                    self._begin()
                is_idle = not self._closing.is_set() and not self.state.running
            if is_idle:
                self.idle()

    def _perform(self, work: Callable[[Cancelled], T], future: "Future[T]", deadline: float | None) -> None:
        if deadline is not None and self.clock.monotonic() >= deadline:
            future.cancel()
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = work(lambda: self._closing.is_set() or self._is_past(deadline))
        except BaseException as error:  # noqa: BLE001 - whoever submitted it finds it in the future
            future.set_exception(error)
        else:
            future.set_result(result)

    def _is_past(self, deadline: float | None) -> bool:
        return deadline is not None and self.clock.monotonic() >= deadline
