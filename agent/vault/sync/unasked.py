"""The conflicts that rounds of sync have left, until the person is asked about them: outside the vault, so that a
round that nobody watches, or that the machine's end cuts short, loses none."""

from hashlib import sha256

from agent.dataclass import dataclass
from agent.records.table import Table
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class UnaskedConflict:
    """A note, or the copy beside it, that two machines have changed."""

    path: str


def unasked_conflicts(vault: Vault) -> Table[UnaskedConflict]:
    """The records of a vault's conflicts, by the keys of `add_unasked`."""
    return Table(vault.records, "unasked-conflicts", UnaskedConflict)


def add_unasked(vault: Vault, path: str) -> None:
    """Record that a note has a conflict; durable when this returns."""
    unasked_conflicts(vault).put(UnaskedConflict(path), _key(path))


def drop_unasked(vault: Vault, path: str) -> None:
    """Delete the record: the person was asked, or there is nothing to ask."""
    unasked_conflicts(vault).drop(_key(path))


def _key(path: str) -> str:
    return sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]
