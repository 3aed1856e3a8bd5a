"""Pins for quotations: the commit of HEAD, if it has the quoted note in its present form."""

from collections.abc import Collection

from agent.dataclass import dataclass
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class Pins:
    """The commit of HEAD, and the notes that differ from it."""

    head: str | None = None
    edited: frozenset[str] = frozenset()

    def commit(self, path: str) -> str | None:
        """The commit that has the note in its present form; None if there is none."""
        return None if path in self.edited else self.head


def pins(vault: Vault, paths: Collection[str]) -> Pins:
    """The pins of these notes; no other note is read, and nothing if there are none."""
    if not paths:
        return Pins()
    edited = frozenset(item.path for item in vault.changed_files(paths))
    return Pins(vault.head, edited)
