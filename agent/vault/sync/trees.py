"""Merges two commits on top of a common one, in memory: which file goes where, and what it says.

The rules, the same on every machine: a move and an edit are both kept; an edit wins over a deletion; two new files with
one name are both kept, the second with a number; new files follow a folder that has moved; links to what got another
name are written again in the notes of the side that could not know it. Nothing is asked, and no line is lost: what
cannot stand in one note stands in a conflict copy beside it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from itertools import count

from agent.dataclass import dataclass
from agent.git.object_ids import FILE, PROGRAM
from agent.git.objects import TreeEntry
from agent.git.runner import Git
from agent.markdown.merging.notes import MergedNote, merge_notes
from agent.markdown.relink import relinked
from agent.vault.folders import AgentFolder, is_hidden, is_log
from agent.vault.sync.sides import PlacedFile, Side, note_ids, side_of
from agent.vault.worktree.paths import is_note
from agent.vault.write.resolve import conflict_copy_path, conflict_note, link_conflict, merge_lines


@dataclass(frozen=True, slots=True)
class Versions:
    """The contents of one file: at the common commit (None: not there), here, and there."""

    base: bytes | None
    ours: bytes
    theirs: bytes


def merged_file(git: Git, path: str, versions: Versions, home: AgentFolder) -> MergedNote:
    """Merge one file; the same for both sides, whoever merges. A settings file of an editor (a hidden path) has no
    second version beside it: git's history has it."""
    base, ours, theirs = versions.base, versions.ours, versions.theirs
    if ours == theirs or theirs == base:
        return MergedNote(ours, None)
    if ours == base:
        return MergedNote(theirs, None)
    if is_note(path):
        return merge_notes(base, ours, theirs, is_log=is_log(path, home))
    lines = merge_lines(git, base, ours, theirs) if base is not None else None
    if lines is not None:
        return MergedNote(lines, None)
    first, second = max(ours, theirs), min(ours, theirs)
    return MergedNote(first, None if is_hidden(path) else second)


_PLAIN = frozenset((FILE, PROGRAM))


@dataclass(frozen=True, slots=True)
class TreeMerge:
    """The result: `edits` are the files to change on our side (None: to delete), and `blobs` the new contents by id.

    `conflicts`: notes with the conflict copy beside each. `undeleted`: deleted on one side, changed on the other.
    `numbered`: files that got another name, by their wanted name.
    """

    edits: Mapping[str, TreeEntry | None]
    blobs: Mapping[str, bytes]
    conflicts: Mapping[str, str] = field(default_factory=dict)
    undeleted: tuple[str, ...] = ()
    numbered: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Slot:
    """A file of the result: its path, its entry on each side, and where it is on our side now (empty: nowhere).
    `is_numbered`: another file has its name, so it gets another one."""

    path: str
    base: TreeEntry | None
    ours: TreeEntry | None
    theirs: TreeEntry | None
    at: str = ""
    is_numbered: bool = False


def merge_trees(git: Git, base: str, ours: str, theirs: str, home: AgentFolder, when: datetime) -> TreeMerge:
    """Merge two commits; `base` is a commit or a tree, `when` names conflict copies."""
    return _Merge(git, side_of(git, base, ours), side_of(git, base, theirs), home, when).result()


@dataclass(slots=True)
class _Merge:
    git: Git
    ours: Side
    theirs: Side
    home: AgentFolder
    when: datetime
    slots: list[_Slot] = field(default_factory=list)
    removed: set[str] = field(default_factory=set)
    undeleted: list[str] = field(default_factory=list)
    numbered: dict[str, str] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    conflicts: dict[str, str] = field(default_factory=dict)
    _renamed_here: dict[str, str] = field(default_factory=dict)
    _renamed_there: dict[str, str] = field(default_factory=dict)
    _read: dict[str, bytes] = field(default_factory=dict)
    _twins: dict[str, str] = field(default_factory=dict)
    """New notes of theirs that have the id of a new note of ours, with the path of that one."""
    _copies: set[str] = field(default_factory=set)
    """New files of ours that are the first half of a move which theirs have made whole."""
    _origins: dict[str, str] = field(default_factory=dict)
    """Where the files that we have moved were before."""

    def result(self) -> TreeMerge:
        self._twins = self._same_ids()
        self._origins = {new: old for old, new in self.ours.moves.items()}
        for path in self.theirs.placed:
            self._placed(path)
        for path, entry in self.theirs.added.items():
            self._added(path, entry)
        paired = {*self._twins.values(), *self._copies}
        for path, entry in self.ours.added.items():
            if path not in paired and (followed := self.theirs.followed(path)) != path:
                self.slots.append(_Slot(followed, None, entry, None, path))
        self._place()
        self._load()
        edits = {path: None for path in self.removed} | self._edits()
        edits |= self._relinked(edits)
        same = {path for path, entry in edits.items() if self.ours.files.get(path) == entry}
        return TreeMerge(
            {path: entry for path, entry in sorted(edits.items()) if path not in same},
            self.blobs,
            self.conflicts,
            tuple(self.undeleted),
            self.numbered,
        )

    def _placed(self, path: str) -> None:
        """A file of the common commit that they have changed, moved or deleted."""
        before, there = self.theirs.before[path], self.theirs.placed[path]
        here = self.ours.now(path, before)
        if there is None:
            if here is not None and path not in self.ours.placed:
                self.removed.add(here.path)
            elif here is not None:
                self.undeleted.append(here.path)
        elif here is None:
            self.undeleted.append(there.path)
            self.slots.append(_Slot(there.path, before, None, there.entry))
        elif not self._halved(path, here, there):
            moved = [each for each in (here.path, there.path) if each != path]
            self.slots.append(_Slot(min(moved, default=path), before, here.entry, there.entry, here.path))

    def _halved(self, path: str, here: PlacedFile, there: PlacedFile) -> bool:
        """Join a file that one side has moved and the other has at both places; False if it is none."""
        before, is_ours = self.theirs.before[path], here.path != path
        if path not in {here.path, there.path} or here.path == there.path:
            return False
        goal, still = (here.path, there.entry) if is_ours else (there.path, here.entry)
        copy = (self.theirs if is_ours else self.ours).added.get(goal)
        if copy is None or not _is_same(copy, before, here.entry, there.entry):
            return False
        is_whole = _is_same(still, before, copy)  # else the old place has another note by now
        if is_ours and is_whole:
            self.slots.append(_Slot(goal, before, here.entry, there.entry, goal))
        elif is_ours:
            self.slots += [_Slot(goal, before, here.entry, copy, goal), _Slot(path, None, None, there.entry)]
        elif is_whole:
            self._copies.add(goal)
            self.slots.append(_Slot(goal, before, here.entry, there.entry, path))
        else:
            self.slots.append(_Slot(goal, before, copy, there.entry, goal))
        return True

    def _added(self, path: str, theirs: TreeEntry) -> None:
        """A new file of theirs."""
        if self._is_half_there(path, theirs):
            return
        wanted = self.ours.followed(path)
        if (twin := self._twins.get(path)) is not None:
            goal = min(wanted, self.theirs.followed(twin))
            self.slots.append(_Slot(goal, None, self.ours.added[twin], theirs, twin))
            self._renamed_here |= {twin: goal} if twin != goal else {}
            self._renamed_there |= {path: goal} if path != goal else {}
            return
        ours = self.ours.added.get(wanted) if wanted not in self._twins.values() else None
        if ours is not None and (ours == theirs or is_log(wanted, self.home)):
            self.slots.append(_Slot(wanted, None, ours, theirs, wanted))
            return
        if ours is not None and ours.oid > theirs.oid:  # the same one gets the number, whoever merges
            self.slots.append(_Slot(wanted, None, ours, None, wanted, is_numbered=True))
        self.slots.append(_Slot(wanted, None, None, theirs))

    def _is_half_there(self, path: str, theirs: TreeEntry) -> bool:
        """True if a new file of theirs is one that we have moved, and that they have at its old place, too."""
        old = self._origins.get(path, "")
        there = self.theirs.now(old, self.ours.before[old]) if old else None
        if there is None or there.path != old:
            return False
        return _is_same(theirs, self.ours.before[old], self.ours.files[path], there.entry)

    def _same_ids(self) -> dict[str, str]:
        """The new notes of theirs that have the id of a new note of ours, as after a move of a note that only the
        common commit does not know."""
        if not (self.ours.added and self.theirs.added):
            return {}
        ours, theirs = note_ids(self.git, self.ours.added), note_ids(self.git, self.theirs.added)
        return {path: ours[id] for id, path in theirs.items() if id in ours}

    def _place(self) -> None:
        """Give each file of the result a path of its own; a new one whose path is taken gets a number."""
        coming = [slot for slot in self.slots if slot.at != slot.path or slot.is_numbered]
        leaving = self.removed | self._copies | {slot.at for slot in coming}
        taken = _Paths()
        for path in (*(path for path in self.ours.files if path not in leaving), *self._staying()):
            taken.add(path)
        for slot in sorted(coming, key=lambda each: (each.is_numbered, each.path)):
            wanted = slot.path
            if slot.is_numbered or taken.clashes(wanted):
                slot.path = taken.free(wanted)
                self.numbered[wanted] = slot.path
                (self._renamed_here if slot.theirs is None else self._renamed_there)[wanted] = slot.path
            taken.add(slot.path)

    def _staying(self) -> Iterator[str]:
        return (slot.path for slot in self.slots if slot.at == slot.path and not slot.is_numbered)

    def _load(self) -> None:
        """Read what has to be merged, by one process."""
        wanted = {
            entry.oid
            for slot in self.slots
            if slot.ours is not None and slot.theirs is not None and slot.ours.oid != slot.theirs.oid
            if slot.base is None or slot.base.oid not in {slot.ours.oid, slot.theirs.oid}
            if {slot.ours.mode, slot.theirs.mode} <= _PLAIN
            for entry in (slot.base, slot.ours, slot.theirs)
            if entry is not None
        }
        asked = sorted(wanted)
        found = self.git.objects(asked) if asked else []
        self._read = {oid: each.data for oid, each in zip(asked, found, strict=True) if each is not None}

    def _edits(self) -> dict[str, TreeEntry | None]:
        edits: dict[str, TreeEntry | None] = {slot.at: None for slot in self.slots if slot.at not in {"", slot.path}}
        for slot in self.slots:
            edits[slot.path] = self._entry(slot, edits)
        return edits

    def _entry(self, slot: _Slot, edits: dict[str, TreeEntry | None]) -> TreeEntry:
        ours, theirs, base = slot.ours, slot.theirs, slot.base
        if ours is None or theirs is None:
            only = ours or theirs
            assert only is not None
            return only
        mode = theirs.mode if base is not None and ours.mode == base.mode else ours.mode
        if ours.oid == theirs.oid or (base is not None and theirs.oid == base.oid):
            return TreeEntry(mode, ours.oid)
        if base is not None and ours.oid == base.oid:
            return TreeEntry(mode, theirs.oid)
        if not {ours.mode, theirs.mode} <= _PLAIN:  # a link or a submodule has no lines: the same one stays everywhere
            return max(ours, theirs, key=lambda each: each.oid)
        versions = Versions(
            self._read.get(base.oid) if base is not None else None, self._read[ours.oid], self._read[theirs.oid]
        )
        merged = merged_file(self.git, slot.path, versions, self.home)
        data = merged.data
        if merged.other is not None:
            other = self._add(conflict_note(merged.other, slot.path) if is_note(slot.path) else merged.other)
            copy = conflict_copy_path(slot.path, f"{self.when:%Y-%m-%d} {other[:4]}")
            edits[copy] = TreeEntry(FILE, other)
            self.conflicts[slot.path] = copy
            data = link_conflict(data, copy) if is_note(slot.path) else data
        return TreeEntry(mode, self._add(data))

    def _relinked(self, edits: Mapping[str, TreeEntry | None]) -> dict[str, TreeEntry | None]:
        """The notes of each side with links to what the other side, or this merge, gave another name."""
        files = {**self.ours.files, **edits}
        gone = {path for path in (*self.ours.moves, *self.theirs.moves) if files.get(path) is None}
        ours = {old: new for old, new in self.theirs.moves.items() if old in gone} | self._renamed_here
        theirs = {old: new for old, new in self.ours.moves.items() if old in gone} | self._renamed_there
        changed: dict[str, TreeEntry | None] = {}
        names = {path.rpartition("/")[2].removesuffix(".md") for path, entry in files.items() if entry is not None}
        for moves, side in ((ours, self.ours), (theirs, self.theirs)):
            if not moves:
                continue
            numbered = {old.rpartition("/")[2].removesuffix(".md") for old in moves if files.get(old) is not None}
            paths = [*side.added, *(now.path for now in side.placed.values() if now is not None)]
            now = (moves.get(path, path) for path in paths if is_note(path))
            for path, entry in ((path, files.get(path)) for path in now):
                if entry is None:
                    continue
                data = self._text(entry.oid)
                new = relinked(data, moves, names - numbered)
                if new != data:
                    changed[path] = TreeEntry(entry.mode, self._add(new))
        return changed

    def _text(self, oid: str) -> bytes:
        if oid in self.blobs:
            return self.blobs[oid]
        found = self.git.objects([oid])[0]
        return found.data if found is not None else b""

    def _add(self, data: bytes) -> str:
        oid = self.git.blob_id(data)
        self.blobs[oid] = data
        return oid


def _is_same(file: TreeEntry, *versions: TreeEntry) -> bool:
    """True if a file has the content of one of the versions."""
    return file.oid in {each.oid for each in versions}


@dataclass(slots=True)
class _Paths:
    """Paths that are taken, compared as a file system compares them that ignores case."""

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)

    def add(self, path: str) -> None:
        key = path.casefold()
        self.files.add(key)
        self.folders.update(_above(key))

    def clashes(self, path: str) -> bool:
        """True if there is such a file or folder, or a file at one of the folders above it."""
        key = path.casefold()
        return key in self.files or key in self.folders or not self.files.isdisjoint(_above(key))

    def free(self, path: str) -> str:
        """The path with the first number that is free."""
        folder, slash, name = path.rpartition("/")
        stem, dot, ending = name.rpartition(".")
        if not self.files.isdisjoint(_above(path.casefold())):
            beside = f"{folder} (2)/{name}"  # a file has the name of a folder above it
            return self.free(beside) if self.clashes(beside) else beside
        front, back = (stem, dot + ending) if stem else (name, "")
        numbered = (f"{folder}{slash}{front} ({number}){back}" for number in count(2))
        return next(each for each in numbered if not self.clashes(each))


def _above(path: str) -> Iterator[str]:
    """The folders above a path."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
