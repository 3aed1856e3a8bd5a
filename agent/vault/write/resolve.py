"""Resolves requests against the current notes into changes of files, by a three-way merge where both sides changed."""

import re
from collections.abc import Callable, Iterable
from dataclasses import field
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import BadNote, Conflict, NoteExists, NoteGone
from agent.git.runner import Git
from agent.markdown.appending import add_to_section, append_block
from agent.markdown.merging import strict as notes
from agent.markdown.note import Note
from agent.vault.change import Append, Change, Collision, Create, Delete, Edit, Move, Request
from agent.vault.day_section import add_between_marks
from agent.vault.worktree.files import Files
from agent.vault.worktree.paths import TEMPORARY

_NAME = re.compile(r" \(conflict [^()/]+\)(\.[^./]*)?$")


def conflict_copy_path(path: str, stamp: str) -> str:
    """The path for a version that cannot be merged: beside the note, with its name. `stamp` makes it unique."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    return f"{folder}{slash}{_shortened(stem or name)} (conflict {stamp}){dot}{ending if stem else ''}"


def is_conflict_copy(path: str) -> bool:
    """True for the name of a conflict copy."""
    return _NAME.search(path) is not None


def _shortened(stem: str) -> str:
    while len(stem.encode("utf-8", "surrogateescape")) > 180:
        stem = stem[:-1]
    return stem


def link_conflict(data: bytes, copy: str) -> bytes:
    """The note with a link to the conflict copy: in its `conflicts` property, or as last line if its header is bad.

    Without a copy (`copy` empty) the note is unchanged.
    """
    if not copy:
        return data
    target = f"[[{copy.removesuffix('.md')}]]"
    try:
        note = Note.parse(data)
        return note.with_key("conflicts", [*note.strings("conflicts"), target]).data
    except BadNote:
        gap = b"" if data.endswith(b"\n") or not data else b"\n"
        return data + gap + f"\nConflict copy: {target}\n".encode()


def conflict_note(data: bytes, original: str) -> bytes:
    """The version that could not be merged, as a note with a link to the original; other bytes are unchanged, but an
    `id` stays with the original."""
    try:
        note = Note.parse(data).without_key("id")
        return note.with_key("conflict_of", f"[[{original.removesuffix('.md')}]]").data
    except BadNote:
        return data


Combine = Callable[[Collision, bytes, bytes, bytes], bytes | None]
"""(collision, base, ours, theirs) to the merged bytes, None if both changed the same lines."""


def combiner(git: Git) -> Combine:
    """The merge of notes that a vault uses."""

    def lines(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        return merge_lines(git, base, ours, theirs)

    def combine(collision: Collision, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        if theirs == base:
            return ours
        match collision:
            case Collision.REFUSE:
                return None
            case Collision.MERGE:
                return notes.merge(base, ours, theirs, lines)
            case Collision.APPEND:
                return notes.merge_append(base, ours, theirs)

    return combine


def merge_lines(git: Git, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """git's three-way merge of lines; None for a conflict, and for content that git treats as binary."""
    import tempfile  # slow to load, and few notes are merged

    with tempfile.TemporaryDirectory(prefix="vault-agent-merge-") as folder:
        names = [str(Path(folder) / name) for name in ("ours", "base", "theirs")]
        for name, data in zip(names, (ours, base, theirs), strict=True):
            Path(name).write_bytes(data)
        running = git.start("merge-file", "-p", "-q", *names)
        merged = running.wait(ok=range(256))
        return merged if running.code == 0 else None


@dataclass(slots=True)
class _Draft:
    """One file as it was read, and its planned content."""

    before: bytes | None
    after: bytes | None
    collision: Collision
    mode: int | None
    source: str = ""


@dataclass(slots=True)
class Resolver:
    """Combines requests into changes. `stamp` (date, time and part of an id) names conflict copies."""

    files: Files
    combine: Combine
    token: str
    stamp: str
    conflicts: list[str] = field(default_factory=list)
    _drafts: dict[str, _Draft] = field(default_factory=dict)

    def changes(self, requests: Iterable[Request]) -> list[Change]:
        """The files to change, deletions last; raises `NoteExists`, `NoteGone` or `Conflict`, with nothing done."""
        for request in requests:
            match request:
                case Create(path, data):
                    self._create(path, data)
                case Edit(path, base, data):
                    self._edit(path, base, data)
                case Append():
                    self._append(request)
                case Move(path, to):
                    self._move(path, to)
                case Delete(path, base):
                    self._delete(path, base)
        real = [(path, draft) for path, draft in self._drafts.items() if draft.before != draft.after]
        ordered = sorted(real, key=lambda item: item[1].after is None)
        return [self._change(number, path, draft) for number, (path, draft) in enumerate(ordered)]

    def _change(self, number: int, path: str, draft: _Draft) -> Change:
        copy = self.copy_path(path)
        temporary = f"{TEMPORARY}{self.token}-{number}"
        return Change(path, draft.before, draft.after, temporary, draft.collision, draft.mode, copy, draft.source)

    def copy_path(self, path: str) -> str:
        """The path for a conflict copy of this note."""
        return conflict_copy_path(path, self.stamp)

    def _draft(self, path: str, collision: Collision) -> _Draft:
        draft = self._drafts.get(path)
        if draft is None:
            current = self.files.read(path)
            draft = _Draft(current, current, collision, self.files.mode(path) if current is not None else None)
            self._drafts[path] = draft
        return draft

    def _create(self, path: str, data: bytes) -> None:
        draft = self._draft(path, Collision.REFUSE)
        if draft.after is not None:
            raise NoteExists("{path} exists already", hint="choose another name, or edit it", path=path)
        draft.after = data

    def _edit(self, path: str, base: bytes, data: bytes) -> None:
        draft = self._draft(path, Collision.MERGE)
        if draft.after is None:
            raise NoteGone("{path} is not there any more", hint="it was moved or deleted meanwhile", path=path)
        merged = self.combine(Collision.MERGE, base, data, draft.after)
        if merged is None:
            copy = self.copy_path(path)
            self._create(copy, conflict_note(data, path))
            self.conflicts.append(copy)
            merged = link_conflict(draft.after, copy)
        draft.after = merged

    def _append(self, asked: Append) -> None:
        draft = self._draft(asked.path, Collision.MERGE if asked.section else Collision.APPEND)
        before = asked.head if draft.after is None else draft.after
        if asked.section:
            add = add_between_marks if asked.marked else add_to_section
            draft.after = add(before, asked.section, asked.text)
        else:
            draft.after = append_block(before, asked.text) if asked.is_block else _joined(before, asked.text)

    def _move(self, path: str, to: str) -> None:
        source, target = self._draft(path, Collision.REFUSE), self._draft(to, Collision.REFUSE)
        if source.after is None:
            raise NoteGone("{path} is not there", hint="vault-agent log shows where it went", path=path)
        if target.after is not None:
            raise NoteExists("{to} exists already", hint="choose another name", to=to)
        target.after, target.mode, target.source = source.after, source.mode, source.source or path
        source.after = None

    def _delete(self, path: str, base: bytes | None) -> None:
        draft = self._draft(path, Collision.REFUSE)
        if draft.after is None:
            raise NoteGone("{path} is not there any more", path=path)
        if base is not None and base != draft.after:
            raise Conflict(
                "{path} was changed meanwhile and stays", paths=(path,), hint="read it again, then repeat", path=path
            )
        draft.after = None


def _joined(data: bytes, text: bytes) -> bytes:
    """The data followed by the text on a line of its own, with the note's line endings."""
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    if newline == b"\r\n":
        text = text.replace(b"\r\n", b"\n").replace(b"\n", newline)
    gap = newline if data and not data.endswith(b"\n") else b""
    return data + gap + text + (b"" if text.endswith(b"\n") else newline)
