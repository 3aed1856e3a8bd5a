"""What one side has done since the common commit: where each file is now, what is new, which folders have moved.

git finds the renames by content. The `id` of a note says more (`note_ids`).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

from agent.dataclass import dataclass
from agent.vault.change import parse_raw
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.objects import TreeEntry
from agent.vault.sync.note_ids import moved_by_id

_INEXACT = 400
"""The most files on each side for which git compares contents to find renames; equal contents are always found."""


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """A file with its path."""

    path: str
    entry: TreeEntry


@dataclass(frozen=True, slots=True)
class Side:
    """One side. `placed` has the files of the common commit that this side changed, moved or deleted (None), by their
    path there; `before` their entries there; `added` its new files; `files` all its files."""

    files: Mapping[str, TreeEntry]
    placed: Mapping[str, PlacedFile | None]
    before: Mapping[str, TreeEntry]
    added: Mapping[str, TreeEntry]
    folders: Mapping[str, str] = field(default_factory=dict)
    """Folders that are gone here, with the one that most of their files have moved to."""

    def now(self, path: str, entry: TreeEntry) -> PlacedFile | None:
        """Where a file of the common commit is on this side."""
        return self.placed[path] if path in self.placed else PlacedFile(path, entry)

    def followed(self, path: str) -> str:
        """The path in the folder that this side has moved the path's folder to; the path itself if it has not."""
        folder, slash, name = path.rpartition("/")
        rest = name
        while folder:
            if folder in self.folders:
                return f"{self.folders[folder]}/{rest}".lstrip("/")
            folder, slash, name = folder.rpartition("/")
            rest = f"{name}/{rest}"
        return path

    @property
    def moves(self) -> dict[str, str]:
        """The notes that this side has moved: old to new path."""
        return {old: now.path for old, now in self.placed.items() if now is not None and now.path != old}


def side_of(git: Git, base: str, commit: str) -> Side:
    """What a commit has changed since `base`, a commit or a tree."""
    command = ["diff-tree", "-r", "-z", "-M", f"-l{_INEXACT}", "--raw", "--no-abbrev", "--ignore-submodules=none"]
    fields = git.fields(*command, "--end-of-options", base, commit)
    changes = moved_by_id(git, parse_raw(fields, 0, "")[0])
    placed: dict[str, PlacedFile | None] = {}
    before: dict[str, TreeEntry] = {}
    added: dict[str, TreeEntry] = {}
    for change in changes:
        if change.before is None and change.after is not None:
            added[change.path] = change.after
        elif change.before is not None:
            old = change.old_path or change.path
            before[old] = change.before
            placed[old] = PlacedFile(change.path, change.after) if change.after is not None else None
    files = files_of(git, commit)
    return Side(files, placed, before, added, _moved_folders(placed, files))


def files_of(git: Git, commit: str) -> dict[str, TreeEntry]:
    """The files of a commit, or of a tree, with links and submodules."""
    found: dict[str, TreeEntry] = {}
    for row in git.fields("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit):
        meta, _, path = row.partition("\t")
        mode, _, oid = meta.split(" ")
        found[path] = TreeEntry(mode, oid)
    return found


def _moved_folders(placed: Mapping[str, PlacedFile | None], files: Mapping[str, TreeEntry]) -> dict[str, str]:
    """The folders that have no file any more, with the folder that most of their files are in now."""
    goals: dict[str, Counter[str]] = {}
    for old, now in placed.items():
        if now is None or old.rpartition("/")[2] != now.path.rpartition("/")[2]:
            continue
        one, other = old.split("/")[:-1], now.path.split("/")[:-1]
        while one and one != other:
            goals.setdefault("/".join(one), Counter())["/".join(other)] += 1
            if not other or one[-1] != other[-1]:
                break
            one, other = one[:-1], other[:-1]
    there = {path[:at] for path in files for at in range(len(path)) if path[at] == "/"} if goals else set()
    return {folder: found.most_common(1)[0][0] for folder, found in goals.items() if folder not in there}
