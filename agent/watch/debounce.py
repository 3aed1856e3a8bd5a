"""Debounce: a path is due after a quiet time, and after a maximum time even if it is never quiet.

Pure: the caller passes the time and handles the due paths.
"""

from dataclasses import field
from typing import Generic, TypeVar

from agent.dataclass import dataclass

Mark = TypeVar("Mark")


@dataclass(frozen=True, slots=True)
class WaitingPath(Generic[Mark]):
    """A waiting path: the times of its first and last touch, and the mark of the last touch."""

    first: float
    last: float
    mark: Mark


@dataclass(slots=True)
class Debounce(Generic[Mark]):
    """Waiting paths, due `quiet` seconds after the last touch or `longest` after the first, whichever is earlier."""

    quiet: float
    longest: float
    waiting: dict[str, WaitingPath[Mark]] = field(default_factory=dict)
    _next: float | None = None

    def __len__(self) -> int:
        return len(self.waiting)

    def touch(self, path: str, now: float, mark: Mark) -> None:
        """Record an event at `path` and restart its quiet time."""
        known = self.waiting.get(path)
        fresh = WaitingPath(known.first if known else now, now, mark)
        self.waiting[path] = fresh
        due = self._due(fresh)
        self._next = due if self._next is None else min(self._next, due)

    def due(self, now: float) -> list[tuple[str, WaitingPath[Mark]]]:
        """Remove the due paths; the result is in the order of their first touch."""
        if self._next is None or now < self._next:
            return []
        ready = [(path, entry) for path, entry in self.waiting.items() if self._due(entry) <= now]
        for path, _ in ready:
            del self.waiting[path]
        self._next = min(map(self._due, self.waiting.values()), default=None)
        return sorted(ready, key=lambda item: item[1].first)

    def next_due(self) -> float | None:
        """The earliest time at which a path can be due; None when none waits."""
        return self._next

    def _due(self, entry: WaitingPath[Mark]) -> float:
        return min(entry.last + self.quiet, entry.first + self.longest)
