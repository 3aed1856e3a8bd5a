"""All notes with their content hashes, now or in a commit; unchanged notes are not read, as git has their hashes."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from agent.config.directories import VAULT_FILE
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.git.index_file import index_stamp
from agent.vault.folders import is_hidden
from agent.vault.held_back import load_held_back
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note
from agent.vault.worktree.survey import DirtyKind, Survey, filtered, surveying

ATTACHMENTS = (
    *(".pdf", ".docx", ".xlsx", ".pptx", ".epub", ".html", ".htm", ".xhtml", ".txt", ".csv", ".tsv"),
    *(".canvas", ".base"),
)
"""The endings of files that are no notes and whose text is read, as `attachments.readers` has them: most vaults have
none, and then no reader is loaded."""
_ID = len("H 100644 ")
"""Where the id begins in a row of git's list."""
_AWAY, _ASSUMED = ("S", "s"), "h"
"""How git marks the files that a sparse checkout leaves out, and those that it was told never to look at."""
_NAMED = 1_000
"""Most paths that are named to git: it takes longer for more of them than for all, and a command has a greatest length.
"""


@dataclass(frozen=True, slots=True)
class VaultListing:
    """All notes with their content hashes, and the files that differ from HEAD.

    On `doubtful` paths, the hash may be none of those that the file's bytes have had since git began to look; None: on
    all, as git was not able to look at everything, was told to overlook something, or its index has changed meanwhile.
    `number` is the number of just these notes that was asked for. `private` are the notes that the settings keep from
    the agent, which are not among them.
    """

    notes: dict[str, str]
    changes: Survey
    doubtful: frozenset[str] | None = None
    number: int | None = None
    private: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """True if no file differs from HEAD, as far as git could look."""
        return not self.changes.changed and not self.changes.unread


def contents(vault: Vault) -> dict[str, str]:
    """Path to content hash of all notes on disk that git does not ignore. Those whose header keeps the agent out are
    among them: what reads them finds nothing.

    In a sparse checkout, excluded notes that are on disk nevertheless are read, and so are those that git was told to
    take as unchanged. The hash is of the bytes on disk, even if git stores a filtered version. A file that a program
    keeps open is read as it is at this moment. A file that cannot be read has the hash that git saw last, and is left
    out if there is none.
    """
    return list_notes(vault).notes


def file_paths(vault: Vault) -> list[str]:
    """All notes and other files of the vault that git does not ignore, sorted; without hidden ones and the settings."""
    return sorted({*vault.note_paths(), *other_paths(vault)})


def attachment_paths(vault: Vault) -> list[str]:
    """The `other_paths` of files whose text can be read; without the agent's own tables of its notes."""
    found = (path for path in other_paths(vault) if path.lower().endswith(ATTACHMENTS))
    return [path for path in found if not vault.home.is_view(path)]


def other_paths(vault: Vault) -> list[str]:
    """The files of the vault that are no notes and that git does not ignore, sorted; without hidden ones and the
    settings."""
    listed = vault.git.fields("ls-files", "-z", "--cached", "--others", "--exclude-standard", *vault.place.pathspec)
    return others_among(vault, vault.place.in_vault(listed))


def others_among(vault: Vault, paths: Iterable[str]) -> list[str]:
    """The `other_paths` among these, none of which git ignores."""
    private, root = load_held_back(vault.git.gitdir).private, vault.place.root
    others = (path for path in paths if not (is_note(path) or is_hidden(path)))
    there = {path for path in others if path != VAULT_FILE and os.path.lexists(root / path)}
    there = set(vault.private_notes.left_of(there))
    return sorted(there - set(vault.place.in_vault(private)))


def count_ignored_notes(vault: Vault) -> int:
    """The number of notes that git ignores, which are in no listing; a folder that it ignores counts as one."""
    command = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", *vault.place.pathspec]
    return sum(path.endswith(".md") for path in vault.git.fields(*command))


def list_notes(vault: Vault, number_of: Callable[[Mapping[str, str]], int] | None = None) -> VaultListing:
    """The `contents`, and the files that differ from HEAD, which git looks for at the same time.

    `number_of` computes a number of all notes meanwhile; it counts if no file differs.
    """
    index = vault.git.gitdir / "index"
    before = index_stamp(index)
    notes, away, found, number = _asked(vault, number_of)
    private = {path.removeprefix(vault.place.prefix) for path in load_held_back(vault.git.gitdir).private}
    staged = {item.path: oid for item in found.changed if (oid := notes.pop(item.path, ""))}
    there = [item.path for item in found.changed if item.kind is not DirtyKind.DELETED and is_note(item.path)]
    doubtful = {item.path for item in found.changed}
    others = (*there, *away, *_rewritten(vault, [*notes]))
    for path in private:
        notes.pop(path, None)
    for path in others:
        if path in private:
            continue
        known = staged.get(path) or notes.get(path)
        notes.pop(path, None)
        try:
            data = vault.files.read_now(path)
        except (AgentError, OSError):
            doubtful.add(path)
            if known:
                notes[path] = known
            continue
        if data is not None and data[0] != "120000":
            notes[path] = vault.git.blob_id(data[1])
    is_sure = not found.unread and vault.git.compares_all_times and before == index_stamp(index)
    covered = vault.private_notes.covered(notes)
    for path in covered:
        del notes[path]
    number = None if staged or others or covered else number
    return VaultListing(notes, found, frozenset(doubtful) if is_sure else None, number, tuple(covered))


def _asked(
    vault: Vault, number_of: Callable[[Mapping[str, str]], int] | None
) -> tuple[dict[str, str], list[str], Survey, int | None]:
    """The `_listed_notes`, what differs from HEAD, by two processes at the same time, and the number of the notes."""
    running = vault.git.start("ls-files", "-s", "-v", "-z", *vault.place.pathspec)
    try:
        with surveying(vault.git, vault.place) as looked:  # git lists the files, and looks for changes meanwhile
            notes, away = _listed_notes(vault, running.wait().decode("utf-8", "surrogateescape"))
            number = None if number_of is None else number_of(notes)
            return notes, away, looked(), number
    finally:
        running.end()


def _listed_notes(vault: Vault, rows: str) -> tuple[dict[str, str], list[str]]:
    """The id of each note in git's list; and the notes that git does not look at: without an id those that a sparse
    checkout leaves out."""
    end = _ID + vault.git.width
    start = end + len(" 0\t" + vault.place.prefix)
    notes, away = dict[str, str](), list[str]()
    for row in rows.split("\0"):
        if row.endswith(".md") and row.startswith("100", 2) and is_note(path := row[start:]):
            if row.startswith(_AWAY):
                away.append(path)
                continue
            notes[path] = row[_ID:end]
            if row.startswith(_ASSUMED):
                away.append(path)
    return notes, away


def _rewritten(vault: Vault, paths: Sequence[str]) -> set[str]:
    """The paths whose content git stores as rewritten by a filter, not as it is on disk."""
    has_filters = any(name.startswith("filter.") for name, _ in vault.git.silenced_drivers())
    return filtered(vault.git, vault.place, paths) if has_filters else set()


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> set[str]:
    """The paths whose hashes differ, or that are in one of the two only; at once where nothing differs, as mostly."""
    return set() if one == other else {path for path, _ in one.items() ^ other.items()}


def listed(vault: Vault, paths: Collection[str]) -> set[str]:
    """The paths that `contents` would include: not ignored by git, and not in another repository."""
    if not paths:
        return set()
    command = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    if len(paths) > _NAMED:
        found = set(paths).intersection(vault.place.in_vault(vault.git.fields(*command, *vault.place.pathspec)))
    else:
        named = (vault.place.prefix + path for path in paths)
        found = set(vault.place.in_vault(vault.git.fields(*command, "--", *named)))
    return found.difference(vault.private_notes.covered(found))


def contents_at(vault: Vault, commit: str) -> dict[str, str]:
    """Path to content hash of all notes in a commit (a full id)."""
    listed = vault.git.fields("ls-tree", "-r", "-z", "--full-tree", commit, *vault.place.pathspec)
    rows = (row.split("\t", 1) for row in listed)
    prefix = vault.place.prefix
    return {
        path.removeprefix(prefix): meta.split(" ")[2]
        for meta, path in rows
        if meta.startswith("100") and is_note(path.removeprefix(prefix))
        if not vault.private_notes.have(path.removeprefix(prefix))
    }
