"""Follows a note, or the notes of a folder, back through renames."""

from collections.abc import Iterable
from typing import Protocol

from agent.vault.file_changes import Kind


class NamedChange(Protocol):
    """The names in the change of one file; `old_path` is set for a rename."""

    @property
    def kind(self) -> Kind: ...
    @property
    def path(self) -> str: ...
    @property
    def old_path(self) -> str | None: ...


class Trail:
    """The names that a note, or the notes of a folder, have had. Feed it the changes of each commit, newest first."""

    def __init__(self, path: str) -> None:
        self.asked = path.strip("/")
        self.earlier: set[str] = set()

    def follow(self, changes: Iterable[NamedChange]) -> bool:
        """True if the changes of one commit touched the followed notes; also records their earlier names."""
        touched = False
        for change in changes:
            names = [change.path, *([change.old_path] if change.old_path else [])]
            if not any(self._is_meant(name) for name in names):
                continue
            touched = True
            if change.kind is Kind.CREATED:
                self.earlier.discard(change.path)
            elif change.old_path and self._is_meant(change.path):
                self.earlier.discard(change.path)
                self.earlier.add(change.old_path)
        return touched

    def _is_meant(self, path: str) -> bool:
        return path == self.asked or path.startswith(self.asked + "/") or path in self.earlier
