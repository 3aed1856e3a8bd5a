"""The paths of all indexed notes in memory: reading them from the passage store takes 30 ms at 10,000 notes."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice

from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class IndexedPaths:
    """Each path with the number of its note, sorted, in one state of the store.

    `state` is SQLite's number that changes with the commits of other connections, and the rows that this one wrote.
    """

    state: tuple[int, int]
    notes: Sequence[tuple[str, int]]

    def under(self, wanted: str) -> Iterator[int]:
        """The notes whose path begins with `wanted`, or matches it if it is a pattern with `*`."""
        if "*" in wanted:
            pattern = wanted.replace("[", "[[]")
            return (note for path, note in self.notes if fnmatchcase(path, pattern))
        begin, size = bisect_left(self.notes, (wanted,)), len(wanted)
        end = bisect_right(self.notes, wanted, begin, key=lambda each: each[0][:size])
        return (note for _, note in islice(self.notes, begin, end))
