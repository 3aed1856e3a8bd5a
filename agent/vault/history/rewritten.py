"""The ids of commits that a purge or a squash has written anew, by their former ids.

They are in a file outside the vault, which holds ids and no text.
"""

from collections.abc import Mapping
from pathlib import Path

from agent.config import private
from agent.vault.store import Vault

_COMMIT = "commit"


def load_rewritten(vault: Vault) -> Mapping[str, str]:
    """The newest id of each commit that was written anew, by its former id; empty if there was none, or the file cannot
    be read."""
    try:
        rows = [line.split(" ") for line in _file(vault).read_text("ascii").splitlines()]
    except (OSError, ValueError):
        return {}
    return {row[1]: row[2] for row in rows if len(row) == 3 and row[0] == _COMMIT}


def record_rewritten(vault: Vault, made: Mapping[str, str]) -> None:
    """Add the commits of one purge or squash (old id to new); call this before the branch moves."""
    commits = {old: made.get(new, new) for old, new in load_rewritten(vault).items()} | dict(made)
    private.replace(_file(vault), "".join(f"{_COMMIT} {old} {new}\n" for old, new in commits.items()))


def _file(vault: Vault) -> Path:
    return vault.private_folder / "rewritten.txt"
