"""The calls of one research: each is counted before it is made, within the limits of calls and time, and made once.

Money is left to the meter of the models, which checks each call of a model in the same way.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import datetime

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.growth.research.reading import Reading


@dataclass(slots=True)
class CallShare:
    """The part of the calls that one researcher may use."""

    most: int
    used: int = 0


@dataclass(slots=True)
class ResearchCalls:
    """The calls of one research: at most `most` searches and readings, for `limit` seconds; may be used by several
    threads. `run` is its account, `started` when it began."""

    clock: Clock
    most: int
    limit: float
    run: str = field(init=False)
    started: datetime = field(init=False)
    _begun: set[tuple[str, ...]] = field(default_factory=set)
    _results: dict[tuple[str, ...], Sequence[Reading]] = field(default_factory=dict)
    _turns: dict[tuple[str, ...], threading.Lock] = field(default_factory=dict)
    _numbers: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _since: float = field(init=False)

    def __post_init__(self) -> None:
        self._since, self.run, self.started = self.clock.monotonic(), self.clock.new_id(), self.clock.now()

    @property
    def used(self) -> int:
        """The calls so far."""
        return len(self._begun)

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return round(self.clock.monotonic() - self._since, 1)

    @property
    def is_late(self) -> bool:
        """True if the time is over."""
        return self.seconds >= self.limit

    def begin(self, key: tuple[str, ...], share: CallShare) -> bool:
        """Count a call before it is made; the same one counts once. False if it may not be made, because the share, all
        calls or the time are used up."""
        with self._lock:
            is_new = key not in self._begun
            if self.is_late or share.used >= share.most or (is_new and self.used >= self.most):
                return False
            share.used += 1
            self._begun.add(key)
            return True

    def is_done(self, key: tuple[str, ...]) -> bool:
        """True if this call was made and has a result."""
        return key in self._results

    def once(self, key: tuple[str, ...], call: Callable[[], Sequence[Reading]]) -> Sequence[Reading]:
        """The result of a call, which is made once; two threads never make the same one."""
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            if key not in self._results:
                self._results[key] = call()
            return self._results[key]

    def number_of(self, address: str) -> int:
        """The number of a source, from 1."""
        with self._lock:
            if address not in self._numbers:
                self._numbers.append(address)
            return self._numbers.index(address) + 1
