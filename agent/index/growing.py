"""An array that only ever grows, with room at its end: what is added costs what is added, whatever there is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass

_MORE = 4
"""One part in so many is left free behind the entries. The system gives no memory for pages that nobody has written."""


@dataclass(frozen=True, slots=True)
class GrowingArray:
    """The first `count` entries of `room`. They are never written again, so that earlier states of an array share its
    memory with later ones; only the latest may grow."""

    room: NDArray[Any]
    count: int = 0

    @property
    def entries(self) -> NDArray[Any]:
        return self.room[: self.count]

    def with_room(self, count: int) -> "GrowingArray":
        """The same with room for so many entries."""
        if count <= len(self.room):
            return self
        room = np.empty((count + count // _MORE, *self.room.shape[1:]), self.room.dtype)
        room[: self.count] = self.entries
        return GrowingArray(room, self.count)

    def grown(self, more: NDArray[Any]) -> "GrowingArray":
        """The array with more entries."""
        end = self.count + len(more)
        room = self.with_room(end).room
        room[self.count : end] = more
        return GrowingArray(room, end)
