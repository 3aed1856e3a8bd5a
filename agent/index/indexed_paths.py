"""The paths of all indexed notes in memory: reading them from the passage store takes 30 ms at 10,000 notes."""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fnmatch import translate

from agent.dataclass import dataclass

_WILD = re.compile(r"[*?]")


@dataclass(frozen=True, slots=True)
class IndexedPaths:
    """The paths in order, and the number of each one's note, in one state of the store.

    `state` is SQLite's number that changes with the commits of other connections, and the rows that this one wrote.
    """

    state: tuple[int, int]
    paths: Sequence[str]
    numbers: "array[int]"

    @property
    def folders(self) -> frozenset[str]:
        """The folders of the notes, and those above them."""
        found: set[str] = set()
        for path in self.paths:
            while (path := path.rpartition("/")[0]) and path not in found:
                found.add(path)
        return frozenset(found)

    def under(self, wanted: str) -> "array[int]":
        """The notes whose path begins with `wanted`, or matches it if it is a pattern with `*`."""
        if "*" not in wanted:
            return self.numbers[self._beginning_with(wanted)]
        within = self._beginning_with(_WILD.split(wanted, maxsplit=1)[0])
        fits = re.compile(translate(wanted.replace("[", "[[]"))).match
        found = zip(self.paths[within], self.numbers[within], strict=True)
        return array("q", [note for path, note in found if fits(path)])

    def _beginning_with(self, start: str) -> slice:
        begin, size = bisect_left(self.paths, start), len(start)
        return slice(begin, bisect_right(self.paths, start, begin, key=lambda path: path[:size]))
