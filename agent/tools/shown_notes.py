"""The lines of notes that the model of a run has been shown: it cannot replace a note that it has not read.

Only whole lines line_count, and only of the version that was shown: a note that changed since is unread again.
"""

from dataclasses import dataclass, field
from hashlib import sha256


@dataclass(slots=True)
class ShownNotes:
    """The shown lines by note, each with a hash of the version they are from."""

    _notes: dict[str, tuple[bytes, frozenset[int]]] = field(default_factory=dict)

    def show(self, path: str, data: bytes, lines: tuple[int, int] | None = None) -> None:
        """Record that these lines (inclusive, from 1; None: all) of a note that holds `data` were shown."""
        version = sha256(data).digest()
        first, last = lines or (1, line_count(data))
        shown = frozenset(range(first, last + 1))
        before = self._notes.get(path)
        self._notes[path] = (version, before[1] | shown if before and before[0] == version else shown)

    def forget(self, path: str) -> None:
        """Forget what was shown of a note."""
        self._notes.pop(path, None)

    def is_whole(self, path: str, data: bytes) -> bool:
        """Return whether every line of the note, as it is in `data`, was shown."""
        found = self._notes.get(path)
        if found is None or found[0] != sha256(data).digest():
            return False
        return found[1].issuperset(range(1, line_count(data) + 1))


def line_count(data: bytes) -> int:
    """Return the number of lines; a line feed at the very end begins no other."""
    return data.count(b"\n") + (0 if data.endswith(b"\n") or not data else 1)
