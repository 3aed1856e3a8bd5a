"""Classification of a file change: two versions of a file become one event.

Pure: the watcher passes the bytes of both versions and the origin of the change.
"""

from agent.dataclass import dataclass
from agent.events import types
from agent.events.types import FileChanged, NoteCreated, NoteDeleted, NoteEdited, NoteMoved, Origin
from agent.markdown import changes
from agent.markdown.changes import NoteChange
from agent.markdown.note import Note
from agent.watch.ignore import is_note

NoteEvent = types.NoteEvent[NoteChange]
VaultEvent = types.VaultEvent[NoteChange]

MOST_COMPARED = 1 << 20
"""Bytes. The event of a larger note does not list the changed links, tasks and sections."""
_EMPTY = Note.parse(b"")


@dataclass(frozen=True, slots=True)
class ContentChange:
    """A file that differs from the snapshot: its hashes before and now (None: no file), and its path before a move."""

    path: str
    before: str | None
    after: str | None
    source: str = ""


def classify(difference: ContentChange, old: bytes | None, new: bytes | None, origin: Origin) -> VaultEvent:
    """The event for a difference; `old` and `new` are the bytes of its two hashes, `old` None when not available."""
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
