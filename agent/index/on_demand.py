"""What is loaded when it is first asked for, and given back when nothing has asked for it for a while.

A tokenizer, the vectors of all notes and the pages of a model are 50 MB of a daemon that has answered one search, or
taken in one note. To load them again takes a tenth of a second.
"""

import mmap
import sys
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")


def _keep_nothing(value: object) -> None:
    """Do nothing; for a value that needs only be forgotten."""


class OnDemand(Generic[T]):
    """A value that `load` returns when it is asked for. Thread-safe; whoever has the value may keep it.

    `let_go` is called with a value that is given back.
    """

    def __init__(self, load: Callable[[], T], let_go: Callable[[T], object] = _keep_nothing) -> None:
        self._load, self._let_go = load, let_go
        self._held: list[T] = []
        self._is_asked = False
        self._lock = threading.Lock()
        _values.add(self)

    @property
    def is_held(self) -> bool:
        return bool(self._held)

    def get(self) -> T:
        """The value, loaded if it is not held."""
        with self._lock:
            self._is_asked = True
            if not self._held:
                self._held.append(self._load())
            return self._held[0]

    def forget_unasked(self) -> None:
        """Hold nothing more, unless it was asked for since the last call."""
        with self._lock:
            left, self._held = ([], self._held) if self._is_asked else (self._held, [])
            self._is_asked = False
        for each in left:
            self._let_go(each)


_values: WeakSet[OnDemand[Any]] = WeakSet()
_maps: WeakSet[mmap.mmap] = WeakSet()


def give_back_pages_of(mapped: mmap.mmap) -> None:
    """Let `forget_unasked` give back the memory of what was read of a mapped file."""
    _maps.add(mapped)


def is_any_held() -> bool:
    """True if `forget_unasked` may have something to give back, now or later."""
    return any(each.is_held for each in [*_values])


def forget_unasked() -> None:
    """Forget what was not asked for since the last call, and have mapped files read from the disk, or the system's
    cache, when they are asked for again."""
    for each in [*_values]:
        each.forget_unasked()
    for mapped in [*_maps]:
        if sys.platform == "linux":
            mapped.madvise(mmap.MADV_DONTNEED)
