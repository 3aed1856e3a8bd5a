"""What a person has staged in git's index: it is theirs to commit, and a sync waits for it.

A staged file is half of something that only its person knows, such as the new place of a note that has moved: what is
on disk beside it must not be sent before it.
"""

from agent.vault.store import Vault

PATIENCE = 2.0
"""Seconds that another program gets to commit what it has just staged."""
_PAUSE = 0.1


def staged(vault: Vault) -> str:
    """The first of the vault's files that is staged and not committed; empty if there is none."""
    command = ["diff-index", "--cached", "--name-only", "--no-renames", "--ignore-submodules=none", "-z", "HEAD"]
    fields = vault.git.fields(*command, "--", vault.place.prefix or ".", ok=(0, 128))
    return fields[0].removeprefix(vault.place.prefix) if fields else ""


def still_staged(vault: Vault) -> str:
    """The same, once another program has had the time to commit it."""
    deadline = vault.clock.monotonic() + PATIENCE
    while (path := staged(vault)) and vault.clock.monotonic() < deadline:
        vault.clock.sleep(_PAUSE)
    return path
