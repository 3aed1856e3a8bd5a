"""The first commit of a vault, which all its clones have: it tells one vault from another."""

from agent.vault.store import Vault


def first_commit(vault: Vault) -> str:
    """The id of the first commit, of several the lowest; empty without one. Git looks through the whole history."""
    return min(vault.git.run("rev-list", "--max-parents=0", "HEAD", ok=(0, 128)).decode().split(), default="")
