"""The ids of commits that a purge has written anew: a quotation that is pinned to an old one is still found.

They are in a file outside the vault, which holds ids and no text.
"""

from collections.abc import Collection, Mapping
from dataclasses import field
from pathlib import Path

from agent.config import private
from agent.dataclass import dataclass
from agent.vault.store import Vault

_COMMIT, _SHIFTED = "commit", "shifted"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """`commits`: old id to the newest one. `shifted`: the blob ids of notes that lost whole lines in a purge, so that a
    quotation by line numbers may not be valid for them: a later version with the same bytes counts, too."""

    commits: Mapping[str, str] = field(default_factory=dict)
    shifted: frozenset[str] = frozenset()


def load_rewritten(vault: Vault) -> Rewritten:
    """What the purges of this vault have recorded; empty if there was none, or the file cannot be read."""
    try:
        rows = [line.split(" ") for line in _file(vault).read_text("ascii").splitlines()]
    except (OSError, ValueError):
        return Rewritten()
    commits = {row[1]: row[2] for row in rows if len(row) == 3 and row[0] == _COMMIT}
    return Rewritten(commits, frozenset(row[1] for row in rows if len(row) == 2 and row[0] == _SHIFTED))


def record_rewritten(vault: Vault, made: Mapping[str, str], shifted: Collection[str]) -> None:
    """Add the commits of one purge (old id to new); call this before the branch moves."""
    known = load_rewritten(vault)
    commits = {old: made.get(new, new) for old, new in known.commits.items()} | dict(made)
    lines = [f"{_COMMIT} {old} {new}" for old, new in commits.items()]
    lines += [f"{_SHIFTED} {blob}" for blob in sorted(known.shifted | set(shifted))]
    private.replace(_file(vault), "\n".join(lines) + "\n")


def _file(vault: Vault) -> Path:
    return vault.private_folder / "rewritten.txt"
