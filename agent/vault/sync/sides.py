"""What one side has done since the common commit: where each file is now, what is new, which folders have moved.

git finds the renames by content. The `id` in the headers of notes shows more moves: one id is one note, and two ids are
two notes.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.git.objects import TreeEntry
from agent.git.runner import Git
from agent.vault.change import FileChange, Kind, parse_raw
from agent.vault.worktree.paths import is_note

_ID = re.compile(rb"\A---\r?\n(?:[^\n]*\n)*?id:[ \t]*[\"']?([^\s\"']+)")
_HEADER = 4_096
_LARGEST = 1 << 20


def note_id(data: bytes | None) -> str:
    """The `id` in a note's header; empty if it has none."""
    found = _ID.match(data[:_HEADER]) if data is not None else None
    return found[1].decode("utf-8", "replace") if found and b"\n---" not in found[0] else ""


def note_ids(git: Git, files: Mapping[str, TreeEntry]) -> dict[str, str]:
    """The paths of the notes among these files by their ids; of two with one id, the first by name."""
    notes = {path: entry for path, entry in sorted(files.items(), reverse=True) if is_note(path)}
    blobs = git.small_blobs([entry.oid for entry in notes.values()], _LARGEST)
    return {id: path for path, entry in notes.items() if (id := note_id(blobs.get(entry.oid)))}


def moved_by_id(git: Git, changes: Sequence[FileChange]) -> Sequence[FileChange]:
    """The changes, with git's guesses about notes set right by their ids.

    What git takes for a move, from one id to another, is a note that went and one that came. A note that went and one
    that came with its id are a move; a note went, too, if its path has another note now.
    """
    notes = [each for each in changes if is_note(each.path) and each.before != each.after]
    if all(each.kind is Kind.EDITED for each in notes):
        return changes
    blobs = git.small_blobs([e.oid for c in notes for e in (c.before, c.after) if e is not None], _LARGEST)
    ids = _Ids({oid: note_id(data) for oid, data in blobs.items()})
    apart = {each.path: each for each in notes if ids.are_two(each)}
    came = {ids.of(each.after) for each in apart.values()} - {""}
    apart |= {each.path: each for each in notes if each.kind is Kind.EDITED and ids.of(each.before) in came}
    return [*(each for each in changes if each.path not in apart), *ids.paired(list(apart.values()))]


@dataclass(frozen=True, slots=True)
class _Ids:
    """The ids of notes, by blob."""

    by_blob: Mapping[str, str]

    def of(self, entry: TreeEntry | None) -> str:
        return self.by_blob.get(entry.oid, "") if entry is not None else ""

    def are_two(self, change: FileChange) -> bool:
        """True unless the change is of one note."""
        if change.kind is Kind.RENAMED:
            before, after = self.of(change.before), self.of(change.after)
            return bool(before and after and before != after)
        return change.kind is not Kind.EDITED

    def paired(self, changes: Sequence[FileChange]) -> Iterator[FileChange]:
        """What went and what came in these changes, as moves where the ids are the same."""
        went = {each.old_path or each.path: each.before for each in changes if each.before is not None}
        came = {each.path: each.after for each in changes if each.after is not None}
        goals = {id: path for path, entry in came.items() if (id := self.of(entry))}
        for path, before in list(went.items()):
            goal = goals.pop(self.of(before), "")
            if goal:
                kind = Kind.EDITED if goal == path else Kind.RENAMED
                yield FileChange(kind, goal, None if goal == path else path, before, came.pop(goal))
                del went[path]
        for path, before in went.items():
            if path not in came:
                yield FileChange(Kind.DELETED, path, None, before, None)
        for path, after in came.items():
            kind = Kind.EDITED if path in went else Kind.CREATED
            yield FileChange(kind, path, None, went.get(path), after)


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
