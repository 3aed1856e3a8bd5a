"""Gives back what following the vault has left in memory, once nothing waits: versions of notes, words, freed memory.

A daemon meets new ids, times and versions all day long, and each of its caches would fill for weeks. Work of the pool
gives back its own when it is over; edits and pulls alone need none.
"""

from collections.abc import Callable
from dataclasses import field

from agent.background.part import PACE
from agent.clock import Clock
from agent.dataclass import dataclass
from agent.events.types import FilesChanged
from agent.markdown.changes import NoteChange

PAUSE = 60.0
"""Seconds from the first change until its leftovers are given back: once a minute for one who writes all day."""
UNASKED = 600.0
"""Seconds between two looks for what nobody has asked for since the last one: who searches now and then finds all
loaded."""


@dataclass(slots=True)
class Leftovers:
    """Gives back the memory that changes and searches leave; `give_back` takes some milliseconds. `forget_unasked`
    gives back what was not asked for since its last call, `is_held` says whether anything is, `is_behind` whether more
    changes wait to be taken in."""

    clock: Clock
    is_lagging: Callable[[], bool]
    give_back: Callable[[], object]
    forget_unasked: Callable[[], object]
    is_held: Callable[[], bool]
    _changed_at: float | None = field(default=None, init=False)
    _held_at: float | None = field(default=None, init=False)

    def changed(self, _: FilesChanged[NoteChange]) -> None:
        """Files have changed: something will be left."""
        if self._changed_at is None:
            self._changed_at = self.clock.monotonic()

    def turn(self, now: float) -> float:
        """Give back what is due, unless more changes wait to be taken in; returns after how many seconds to look."""
        if self.is_lagging() or (self._changed_at is None and not self.is_held()):
            return PACE
        if self._changed_at is not None and now - self._changed_at >= PAUSE:
            self._changed_at = None
            self.give_back()
        if self._held_at is None:
            self._held_at = now
        elif now - self._held_at >= UNASKED:
            self._held_at = None
            self.forget_unasked()
        return PACE
