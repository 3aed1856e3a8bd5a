"""What the person has looked at on this machine: contents of notes, in an append-only file that the vault never has."""

import json
from dataclasses import field
from pathlib import Path

from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.vault import durable


@dataclass(slots=True)
class Looks:
    """The person's looks in one vault; the file is read again when it has grown."""

    path: Path
    _known: set[tuple[str, str]] = field(default_factory=set)
    _size: int = -1

    def has(self, path: str, blob: str | None) -> bool:
        """True if the person has looked at this content at this path (None: at its removal)."""
        self._refresh()
        return (path, blob or "") in self._known

    def add(self, path: str, blob: str | None) -> None:
        """Record that the person has looked at this content; durable when this returns."""
        durable.append(self.path, f"\n{json.dumps([path, blob or ''])}\n")

    def _refresh(self) -> None:
        try:
            size = self.path.stat().st_size
            if size == self._size:
                return
            rows = self.path.read_text("utf-8", "replace").split("\n")
        except OSError:
            return
        self._size = size
        self._known = {found for row in rows if (found := _parsed(row)) is not None}


def _parsed(row: str) -> tuple[str, str] | None:
    """One look; None for a line damaged by a crash: the person is then asked again."""
    try:
        path, blob = parse_json(row)
    except (ValueError, TypeError):
        return None
    return str(path), str(blob)
