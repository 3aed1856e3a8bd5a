"""The commit that pins what is quoted of a note: the one that HEAD is on, where it has the note as it is."""

from collections.abc import Collection
from dataclasses import dataclass

from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class Pins:
    """The commit that HEAD is on, and those notes that are not as it has them."""

    head: str | None = None
    edited: frozenset[str] = frozenset()

    def commit(self, path: str) -> str | None:
        """The commit that has the note as it is; None where there is none."""
        return None if path in self.edited else self.head


def pins(vault: Vault, paths: Collection[str]) -> Pins:
    """The pins of these notes; looks at no other, and at nothing when there are none."""
    if not paths:
        return Pins()
    edited = frozenset(item.path for item in vault.changed_files(paths))
    return Pins(vault.head, edited)
