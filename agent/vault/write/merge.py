"""Three-way merge of notes, based on git's line merge, and the conflict copies for changes that cannot be merged."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from agent.errors import BadNote
from agent.markdown import merge as notes
from agent.markdown.note import Note
from agent.vault.change import Collision
from agent.vault.plumbing.git import Git

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
    with tempfile.TemporaryDirectory(prefix="vault-agent-merge-") as folder:
        names = [str(Path(folder) / name) for name in ("ours", "base", "theirs")]
        for name, data in zip(names, (ours, base, theirs), strict=True):
            Path(name).write_bytes(data)
        running = git.start("merge-file", "-p", "-q", *names)
        merged = running.wait(ok=range(256))
        return merged if running.code == 0 else None


def conflict_copy_path(path: str, stamp: str) -> str:
    """The path for a version that cannot be merged: beside the note, with its name. `stamp` makes it unique."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    return f"{folder}{slash}{_shortened(stem or name)} (conflict {stamp}){dot}{ending if stem else ''}"


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
    """The version that could not be merged, as a note with a link to the original; other bytes are unchanged."""
    try:
        note = Note.parse(data)
        return note.with_key("conflict_of", f"[[{original.removesuffix('.md')}]]").data
    except BadNote:
        return data
