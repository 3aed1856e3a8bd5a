"""The `id` in the headers of notes, and the moves that it shows: one id is one note, and two ids are two notes."""

import re
from collections.abc import Iterator, Mapping, Sequence

from agent.dataclass import dataclass
from agent.vault.change import FileChange, Kind
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.objects import TreeEntry
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
