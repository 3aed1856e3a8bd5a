"""All notes with their content hashes, now or in a commit; unchanged notes are not read, as git has their hashes."""

from collections.abc import Collection, Sequence

from agent.errors import AgentError
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note
from agent.vault.worktree.survey import DirtyKind, Survey, filtered, survey

_ID = len("H 100644 ")
"""Where the id begins in a row of git's list."""
_NAMED = 1_000
"""Most paths that are named to git: it takes longer for more of them than for all, and a command has a greatest length.
"""


def contents(vault: Vault) -> dict[str, str]:
    """Path to content hash of all notes on disk that git does not ignore.

    In a sparse checkout, excluded notes that are on disk nevertheless are read. The hash is of the bytes on disk, even
    if git stores a filtered version. A file that a program keeps open is read as it is at this moment. A file that
    cannot be read has the hash that git saw last, and is left out if there is none.
    """
    return contents_and_changes(vault)[0]


def contents_and_changes(vault: Vault) -> tuple[dict[str, str], Survey]:
    """The `contents`, and the files that differ from HEAD, which git looks for at the same time."""
    command = ["ls-files", "-s", "-t", "-z", *vault.place.pathspec]
    listing = vault.git.start(*command)  # git lists the files while this process looks for changes
    try:
        found = survey(vault.git, vault.place)
        rows = listing.wait().decode("utf-8", "surrogateescape").split("\0")
    finally:
        listing.end()
    end = _ID + vault.git.width
    start = end + len(" 0\t" + vault.place.prefix)
    named = {row[start:]: row for row in rows if row.endswith(".md") and row.startswith("100", 2)}
    entries = {path: row for path, row in named.items() if is_note(path)}
    away = {path for path, row in entries.items() if row.startswith("S")}
    notes = {path: row[_ID:end] for path, row in entries.items() if path not in away}
    staged = {item.path: oid for item in found.changed if (oid := notes.pop(item.path, ""))}
    there = [item.path for item in found.changed if item.kind is not DirtyKind.DELETED and is_note(item.path)]
    for path in (*there, *away, *_rewritten(vault, [*notes])):
        known = staged.get(path) or notes.get(path)
        notes.pop(path, None)
        try:
            data = vault.writer.files.read_now(path)
        except (AgentError, OSError):
            if known:
                notes[path] = known
            continue
        if data is not None and data[0] != "120000":
            notes[path] = vault.git.blob_id(data[1])
    return notes, found


def _rewritten(vault: Vault, paths: Sequence[str]) -> set[str]:
    """The paths whose content git stores as rewritten by a filter, not as it is on disk."""
    has_filters = any(name.startswith("filter.") for name, _ in vault.git.silenced_drivers())
    return filtered(vault.git, vault.place, paths) if has_filters else set()


def listed(vault: Vault, paths: Collection[str]) -> set[str]:
    """The paths that `contents` would include: not ignored by git, and not in another repository."""
    if not paths:
        return set()
    command = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    if len(paths) > _NAMED:
        return set(paths).intersection(vault.place.in_vault(vault.git.fields(*command, *vault.place.pathspec)))
    named = (vault.place.prefix + path for path in paths)
    return set(vault.place.in_vault(vault.git.fields(*command, "--", *named)))


def contents_at(vault: Vault, commit: str) -> dict[str, str]:
    """Path to content hash of all notes in a commit (a full id)."""
    listed = vault.git.fields("ls-tree", "-r", "-z", "--full-tree", commit, *vault.place.pathspec)
    rows = (row.split("\t", 1) for row in listed)
    prefix = vault.place.prefix
    return {
        path.removeprefix(prefix): meta.split(" ")[2]
        for meta, path in rows
        if meta.startswith("100") and is_note(path.removeprefix(prefix))
    }
