"""The first commit of a vault, which all its clones have: it tells one vault from another."""

from contextlib import suppress

from agent.errors import GitFailed
from agent.vault.store import Vault


def first_commit(vault: Vault, known: str = "", until: str = "") -> str:
    """The id of the first commit, of several the lowest; empty without one. Git looks through the whole history, or
    through what came after the commit `until`, at which it was `known`."""
    if known and until == vault.head:
        return known
    if known and until:
        with suppress(GitFailed):  # a purge has removed that commit
            if not vault.git.run("rev-list", "--max-parents=0", "HEAD", f"^{until}"):
                return known
    return min(vault.git.run("rev-list", "--max-parents=0", "HEAD", ok=(0, 128)).decode().split(), default="")
