"""The lines of notes that a run's model was shown: it cannot replace a note that it has not read.

Only whole lines count, and only of the version shown: a note that has changed since counts as unread.
"""

from dataclasses import field
from hashlib import sha256

from agent.dataclass import dataclass

BASE = 12
"""The number of digits in the name of a version."""


@dataclass(slots=True)
class SeenNotes:
    """The shown lines by note, each with a hash of their version."""

    _notes: dict[str, tuple[bytes, frozenset[int]]] = field(default_factory=dict)

    def add(self, path: str, data: bytes, lines: tuple[int, int] | None = None) -> None:
        """Record that these lines (inclusive, from 1; None: all) of a note with the content `data` were shown."""
        version = sha256(data).digest()
        first, last = lines or (1, line_count(data))
        numbers = frozenset(range(first, last + 1))
        before = self._notes.get(path)
        self._notes[path] = (version, before[1] | numbers if before and before[0] == version else numbers)

    def forget(self, path: str) -> None:
        """Delete the record of a note's shown lines."""
        self._notes.pop(path, None)

    def version(self, path: str) -> str:
        """The name of the version of a note that was shown, at least in part; empty if none was."""
        found = self._notes.get(path)
        return found[0].hex()[:BASE] if found else ""

    def has_lines(self, path: str, data: bytes, lines: tuple[int, int]) -> bool:
        """True if these lines (inclusive, from 1) of the note's version `data` were shown."""
        found = self._notes.get(path)
        if found is None or found[0] != sha256(data).digest():
            return False
        return found[1].issuperset(range(lines[0], lines[1] + 1))

    def is_whole(self, path: str, data: bytes) -> bool:
        """True if every line of the note's version `data` was shown."""
        return self.has_lines(path, data, (1, line_count(data)))


def version_of(data: bytes) -> str:
    """The name of a note's version."""
    return sha256(data).hexdigest()[:BASE]


def line_count(data: bytes) -> int:
    """The number of lines; a line feed at the very end does not start another line."""
    return data.count(b"\n") + (0 if data.endswith(b"\n") or not data else 1)
