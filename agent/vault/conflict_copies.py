"""Conflict copies: a version of a note that could not be merged, as a file beside it, each with a link to the other.

The write protocol makes them, and git's merge driver.
"""

import re

from agent.errors import BadNote
from agent.markdown.note import Note

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
