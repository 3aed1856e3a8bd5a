"""Debounce: a path is due after a quiet time, and after a longest time even if it never is quiet.

Pure: the caller gives the time, and acts on the paths that are due.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

Mark = TypeVar("Mark")


@dataclass(frozen=True, slots=True)
class WaitingPath(Generic[Mark]):
    """A path since its first touch; `mark` is what the last touch left with it."""

    first: float
    last: float
    mark: Mark


@dataclass(slots=True)
class Debounce(Generic[Mark]):
    """Paths that wait. `quiet` and `longest` are in seconds; a path is due at the earlier of the two."""

    quiet: float
    longest: float
    waiting: dict[str, WaitingPath[Mark]] = field(default_factory=dict)
    _next: float | None = None

    def __len__(self) -> int:
        return len(self.waiting)

    def touch(self, path: str, now: float, mark: Mark) -> None:
        """Something happened to `path`: wait for quiet from now on."""
        known = self.waiting.get(path)
        fresh = WaitingPath(known.first if known else now, now, mark)
        self.waiting[path] = fresh
        due = self._due(fresh)
        self._next = due if self._next is None else min(self._next, due)

    def due(self, now: float) -> list[tuple[str, WaitingPath[Mark]]]:
        """Take out the paths whose time has come, in the order of their first touch."""
        if self._next is None or now < self._next:
            return []
        ready = [(path, entry) for path, entry in self.waiting.items() if self._due(entry) <= now]
        for path, _ in ready:
            del self.waiting[path]
        self._next = min(map(self._due, self.waiting.values()), default=None)
        return sorted(ready, key=lambda item: item[1].first)

    def next_due(self) -> float | None:
        """No path is due before this time; None when none waits."""
        return self._next

    def _due(self, entry: WaitingPath[Mark]) -> float:
        return min(entry.last + self.quiet, entry.first + self.longest)
