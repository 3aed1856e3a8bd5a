"""What purges have taken out of the history, and must be deleted here once the person wants it gone for good; and the
ids of commits that a purge or a squash has written anew, by their former ids.

Both are in files outside the vault, which hold ids and names of references, and no text.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from agent.config import durable, private
from agent.dataclass import dataclass
from agent.vault.store import Vault

_COMMIT, _OBJECT, _REMOTE = "commit", "object", "remote"


def load_rewritten(vault: Vault) -> Mapping[str, str]:
    """The newest id of each commit that was written anew, by its former id; empty if there was none, or the file cannot
    be read."""
    try:
        rows = [line.split(" ") for line in _rewritten_file(vault).read_text("ascii").splitlines()]
    except (OSError, ValueError):
        return {}
    return {row[1]: row[2] for row in rows if len(row) == 3 and row[0] == _COMMIT}


def record_rewritten(vault: Vault, made: Mapping[str, str]) -> None:
    """Add the commits of one purge or squash (old id to new); call this before the branch moves."""
    commits = {old: made.get(new, new) for old, new in load_rewritten(vault).items()} | dict(made)
    private.replace(_rewritten_file(vault), "".join(f"{_COMMIT} {old} {new}\n" for old, new in commits.items()))


def _rewritten_file(vault: Vault) -> Path:
    return vault.private_folder / "rewritten.txt"


@dataclass(frozen=True, slots=True)
class Purged:
    """`commits`: ids of commits that purges have replaced. `objects`: ids of other objects with forgotten text.

    `remotes`: remote-tracking references that led to such commits when they were deleted here.
    """

    commits: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    remotes: frozenset[str] = frozenset()

    def __or__(self, other: "Purged") -> "Purged":
        return Purged(self.commits | other.commits, self.objects | other.objects, self.remotes | other.remotes)


def load_purged(vault: Vault) -> Purged:
    """The record of the purges of this vault; empty if there was none, or the file cannot be read."""
    try:
        rows = [line.partition(" ") for line in _file(vault).read_text("utf-8", "surrogateescape").splitlines()]
    except OSError:
        return Purged()
    return Purged(
        *(frozenset(value for kind, _, value in rows if kind == name) for name in (_COMMIT, _OBJECT, _REMOTE))
    )


def record_purged(vault: Vault, more: Purged) -> None:
    """Add to the record; call this before what it names loses its references."""
    save_purged(vault, load_purged(vault) | more)


def save_purged(vault: Vault, purged: Purged) -> None:
    """Replace the record."""
    kinds = ((_COMMIT, purged.commits), (_OBJECT, purged.objects), (_REMOTE, purged.remotes))
    durable.replace(_file(vault), "".join(line for kind, values in kinds for line in _lines(kind, values)))


def _lines(kind: str, values: Collection[str]) -> list[str]:
    return [f"{kind} {value}\n" for value in sorted(values)]


def _file(vault: Vault) -> Path:
    return vault.private_folder / "purged.txt"
