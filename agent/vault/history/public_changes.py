"""The changes of files that may be told to whoever does not see the private notes."""

import os
from collections.abc import Iterable

from agent.markdown.keep_out import keeps_agent_out
from agent.vault.change import FileChange, Kind
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note


def public_changes(vault: Vault, changes: Iterable[FileChange]) -> dict[FileChange, FileChange]:
    """What may be told of each change; a note that came out of a private one, or became one, was made or deleted.

    A note that is not there any more counts by the headers that it had.
    """
    listed = list(dict.fromkeys(changes))
    private = _private_paths(vault, listed)
    found: dict[FileChange, FileChange] = {}
    for each in listed:
        if each.path not in private:
            is_out = each.old_path is not None and each.old_path in private
            found[each] = FileChange(Kind.CREATED, each.path, None, None, each.after) if is_out else each
        elif each.old_path is not None and each.old_path not in private:
            found[each] = FileChange(Kind.DELETED, each.old_path, None, each.before, None)
    return found


def _private_paths(vault: Vault, changes: list[FileChange]) -> set[str]:
    names = {path for each in changes for path in (each.path, each.old_path) if path is not None}
    private = {path for path in names if vault.private_notes.have(path)}
    root = vault.place.root
    may_be = vault.private_notes.may_be
    gone = {
        path for path in names - private if is_note(path) and may_be(path) and not os.path.lexists(f"{root}/{path}")
    }
    versions = [
        (path, entry.oid)
        for each in changes
        for path, entry in ((each.path, each.after), (each.old_path or each.path, each.before))
        if path in gone and entry is not None and entry.oid.strip("0")
    ]
    ids = list(dict.fromkeys(oid for _, oid in versions))
    never = {
        oid for oid, data in zip(ids, vault.read_blobs(ids), strict=True) if data is not None and keeps_agent_out(data)
    }
    return private | {path for path, oid in versions if oid in never}
