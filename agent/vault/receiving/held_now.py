"""What is held back now: the last commit has it, and the disk has not. Apart from what changes it."""

from collections.abc import Collection

from agent.vault.held_back import HeldFile, load_held_back
from agent.vault.plumbing.objects import TreeEntry
from agent.vault.store import Vault

NAMED = 500
"""The most paths that are named to git."""


def held_files(vault: Vault) -> tuple[HeldFile, ...]:
    """What the last commit has and the disk has not, by path, without what is about an earlier version."""
    held = load_held_back(vault.place.gitdir)
    if not held.files:
        return ()
    now = entries_in_head(vault, {each.path for each in held.files.values()})
    current = (each for _, each in sorted(held.files.items()) if each.is_held)
    return tuple(each for each in current if oid_of(now.get(each.path)) == each.oid)


def oid_of(entry: TreeEntry | None) -> str:
    """The blob of an entry; empty without one."""
    return entry.oid if entry is not None else ""


def entries_in_head(vault: Vault, paths: Collection[str]) -> dict[str, TreeEntry]:
    """The entry of each of these paths (of the repository) in the last commit."""
    head, found = vault.head, dict[str, TreeEntry]()
    if head is None or not paths:
        return found
    only = sorted(paths) if len(paths) <= NAMED else []
    for row in vault.git.fields("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", head, *only):
        meta, _, path = row.partition("\t")
        if path in paths:
            mode, _, oid = meta.split(" ")
            found[path] = TreeEntry(mode, oid)
    return found
