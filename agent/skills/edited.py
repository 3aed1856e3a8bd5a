"""What the owner has changed in files by hand, told from the commits that were made of the working tree in their name.

Such a commit names its files; what stood in them before is its parent's. So an edit is told from a pull that came into
the same file just before it: the pull's text is what the edit began with.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from agent.errors import UserError
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class Edit:
    """The SHA-256 of a file before and after; None where there was none."""

    before: str | None
    after: str | None


def edits(vault: Vault, commits: Iterable[tuple[str, Sequence[str]]]) -> dict[str, Edit]:
    """What commits (each with the paths that count, the oldest first) have made of their files, by path.

    Edits that follow upon one another are one; of those with something else between them only the last counts.
    """
    found: dict[str, Edit] = {}
    for commit, paths in commits:
        for path in paths:
            now = Edit(_digest(vault, f"{commit}^", path), _digest(vault, commit, path))
            last = found.get(path)
            found[path] = Edit(last.before, now.after) if last is not None and last.after == now.before else now
    return found


def _digest(vault: Vault, revision: str, path: str) -> str | None:
    try:
        data = vault.read_at(revision, path)
    except UserError:  # a first commit has none before it
        return None
    return sha256(data).hexdigest() if data is not None else None
