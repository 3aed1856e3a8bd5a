"""The budget of one research: how many searches and readings it may do, and for how long, checked before each of them.

Money is left to the meter of the models, which checks each call of a model in the same way.
"""

import threading
from collections.abc import Callable
from dataclasses import field
from typing import Literal

from agent.clock import Clock
from agent.dataclass import dataclass


class BudgetSpent(Exception):
    """No further call is allowed: all are used up, or the time is over; not an error, and no person reads it."""

    def __init__(self, what: Literal["calls", "share", "time"]) -> None:
        super().__init__(what)
        self.what = what


@dataclass(slots=True)
class CallShare:
    """The part of the calls that one researcher may use."""

    most: int
    used: int = 0


@dataclass(slots=True)
class CallBudget:
    """The calls of one research; may be used by several threads. `begun` are those of an earlier attempt, which count;
    `seconds` is the time that is left. `note` makes a call durable before it is made."""

    most: int
    seconds: float
    clock: Clock
    note: Callable[[str], object]
    begun: set[str] = field(default_factory=set)
    _until: float = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._until = self.clock.monotonic() + self.seconds

    @property
    def used(self) -> int:
        """The calls so far."""
        return len(self.begun)

    @property
    def is_late(self) -> bool:
        """True if the time is over."""
        return self.clock.monotonic() >= self._until

    def begin(self, call: str, share: CallShare) -> None:
        """Count a call; one that was begun in an earlier attempt counts once. Raises `BudgetSpent`."""
        with self._lock:
            if self.is_late:
                raise BudgetSpent("time")
            if share.used >= share.most:
                raise BudgetSpent("share")
            if call not in self.begun:
                if len(self.begun) >= self.most:
                    raise BudgetSpent("calls")
                self.begun.add(call)
                self.note(call)
            share.used += 1
