"""The versions of a note that is in conflict, as differences that a person reads."""

from agent.interfaces.http.pages.frame import patch_between
from agent.markdown.note import Note
from agent.vault.sync.resolve import ConflictedNote


def version_patches(found: ConflictedNote) -> dict[str, str]:
    """The patch from a note to each other version, by the path of that, without the keys that link them."""
    return {path: patch_between(_plain(found.data), _plain(data)) for path, data in found.copies.items()}


def _plain(data: bytes) -> str:
    note = Note.parse(data)
    for key in {"conflicts", "conflict_of"} & set(note.header) if note.problem is None else ():
        note = note.without_key(key)
    return note.data.decode("utf-8", "replace").lstrip("\n")
