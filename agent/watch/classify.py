"""Classification: two versions of a file become one event, in a person's terms.

Pure: the watcher gives the bytes of both versions, and the origin of the change.
"""

from dataclasses import dataclass

from agent.events import types
from agent.events.types import FileChanged, NoteCreated, NoteDeleted, NoteEdited, NoteMoved, Origin
from agent.markdown import changes
from agent.markdown.changes import NoteChange
from agent.markdown.note import Note
from agent.watch.ignore import is_note

NoteEvent = types.NoteEvent[NoteChange]
VaultEvent = types.VaultEvent[NoteChange]

MOST_COMPARED = 1 << 20
"""Bytes of a note whose versions are compared; a larger one is told as changed, without its every link and task."""
_EMPTY = Note.parse(b"")


@dataclass(frozen=True, slots=True)
class ContentChange:
    """A file that is not what was known: content hashes before and now (None: no file), and where it moved from."""

    path: str
    before: str | None
    after: str | None
    source: str = ""


def classify(difference: ContentChange, old: bytes | None, new: bytes | None, origin: Origin) -> VaultEvent:
    """The event for a difference, whose hashes fit the bytes; `old` is None when that version is not to be had."""
    path, before, after = difference.path, difference.before, difference.after
    if not is_note(path):
        return FileChanged(path, after is not None, origin)
    if after is None or new is None:
        return NoteDeleted(path, before or "", origin)
    if max(len(old or b""), len(new)) > MOST_COMPARED:
        old, new = None, b""
    if before is None:
        return NoteCreated(path, after, origin, changes.compare_notes(_EMPTY, Note.parse(new)))
    same = before == after
    told = () if same or old is None else changes.compare_notes(Note.parse(old), Note.parse(new))
    compared = same or old is not None
    if difference.source:
        return NoteMoved(path, difference.source, before, after, origin, told, compared)
    return NoteEdited(path, before, after, origin, told, compared)
