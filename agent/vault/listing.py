"""Every note with the hash of its content, now or in a commit, without reading the notes that git knows already."""

from collections.abc import Collection, Sequence

from agent.errors import AgentError
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note
from agent.vault.worktree.survey import Dirty, DirtyKind, dirty, filtered


def contents(vault: Vault, changed: Sequence[Dirty] | None = None) -> dict[str, str]:
    """Path to content hash of every note on disk that git does not ignore; `changed` is what `dirty` gave, if known.

    Where a sparse checkout keeps notes away, those that are on disk all the same are read. The hash is of the bytes on
    disk, also where git keeps what a filter made of them; a file that a program keeps open is taken as it is now. One
    that cannot be read has the hash that git last saw, and is left out where it saw none.
    """
    command = ["ls-files", "-s", "-t", "-z", *vault.place.pathspec]
    listing = vault.git.start(*command)  # git lists while it looks for what changed
    try:
        changed = dirty(vault.git, vault.place) if changed is None else changed
        rows = listing.wait().decode("utf-8", "surrogateescape").split("\0")
    finally:
        listing.end()
    plain = [row for row in rows if row[2:].startswith("100")]
    found = dict(_entry(row[2:], vault.place.prefix) for row in plain)
    away = {_entry(row[2:], vault.place.prefix)[0] for row in plain if row.startswith("S")}
    for path in away:
        found.pop(path)
    staged = {item.path: oid for item in changed if (oid := found.pop(item.path, ""))}
    notes = {path: oid for path, oid in found.items() if is_note(path)}
    there = [item.path for item in changed if item.kind is not DirtyKind.DELETED and is_note(item.path)]
    for path in (*there, *filter(is_note, away), *_rewritten(vault, [*notes])):
        known = staged.get(path) or found.get(path)
        notes.pop(path, None)
        try:
            data = vault.writer.files.read_now(path)
        except (AgentError, OSError):
            if known:
                notes[path] = known
            continue
        if data is not None and data[0] != "120000":
            notes[path] = vault.git.blob_id(data[1])
    return notes


def _rewritten(vault: Vault, paths: Sequence[str]) -> set[str]:
    """Those of the paths whose content git keeps as a filter has rewritten it, and not as it is on disk."""
    has_filters = any(name.startswith("filter.") for name, _ in vault.git.silenced_drivers())
    return filtered(vault.git, vault.place, paths) if has_filters else set()


def listed(vault: Vault, paths: Collection[str]) -> set[str]:
    """Those of the paths that `contents` would look at: what git ignores, and what is another repository's, is not."""
    if not paths:
        return set()
    command = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--"]
    return set(vault.place.in_vault(vault.git.fields(*command, *(vault.place.prefix + path for path in paths))))


def contents_at(vault: Vault, commit: str) -> dict[str, str]:
    """The path and content hash of every note in a commit (a full id)."""
    listed = vault.git.fields("ls-tree", "-r", "-z", "--full-tree", commit, *vault.place.pathspec)
    rows = (row.split("\t", 1) for row in listed)
    prefix = vault.place.prefix
    return {
        path.removeprefix(prefix): meta.split(" ")[2]
        for meta, path in rows
        if meta.startswith("100") and is_note(path.removeprefix(prefix))
    }


def _entry(row: str, prefix: str) -> tuple[str, str]:
    meta, path = row.split("\t", 1)
    return path.removeprefix(prefix), meta.split(" ")[1]
