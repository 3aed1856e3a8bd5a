"""Classification of a file change: two versions of a file become one event.

Pure: the watcher passes the bytes of both versions and the origin of the change.

Ignored paths: temporary files of editors and sync programs, and folders that belong to programs.

Decided by name only, because most temporary files are gone before they could be read. Every path with a name that
begins with a dot is ignored, which covers `.git`, `.obsidian`, `.trash`, `.stfolder`, vim's `.x.swp`, Emacs's `.#x`,
rsync's `.x.Ab12Cd`, Syncthing's `.syncthing.x.tmp` and the agent's `.vault-agent-…`; only a `.gitignore` is not, as it
decides about notes. Every other name that ends in `.md` is a note, conflict copies too.
"""

import re

from agent.dataclass import dataclass
from agent.events import types
from agent.events.types import FileChanged, NoteCreated, NoteDeleted, NoteEdited, NoteMoved, Origin
from agent.markdown import changes
from agent.markdown.changes import NoteChange
from agent.markdown.note import Note

GIT_RULES = ".gitignore"
"""The name of a file that says what git, and so the index, leaves out."""
_NOTE = ".md"
"""The end of a note's name, which no rule below matches: of most names nothing else need be asked."""
_NAMES = frozenset({"Thumbs.db", "desktop.ini", "Icon\r"})
_ENDINGS = ("~", ".swp", ".swo", ".swx", ".tmp", ".part", ".partial", ".crdownload", ".vsctmp", ".lock")
_PATTERNS = re.compile(r"#.*#|.*___jb_(?:tmp|old|bak)___|sed[A-Za-z0-9]{6}|~\$.*(?<!\.md)", re.DOTALL)
"""Emacs's unsaved text, JetBrains' safe write, `sed -i`, office programs' locks."""
_PROBE, _STEP = 4913, 123
"""vim tests write access to a folder by creating a file named `4913`, or 4913 plus a multiple of 123."""


def is_ignored(path: str) -> bool:
    """True if the file or folder at this path, relative to the vault, is always ignored."""
    above, _, name = path.rpartition("/")
    is_hidden = above.startswith(".") or "/." in above or (name.startswith(".") and name != GIT_RULES)
    return is_hidden or is_temporary(name)


def is_temporary(name: str) -> bool:
    """True if this is the name of a temporary file or of a program's own file."""
    return not name.endswith(_NOTE) and (
        name.endswith(_ENDINGS)
        or name in _NAMES
        or _PATTERNS.fullmatch(name) is not None
        or (name.isdecimal() and len(name) < 7 and int(name) >= _PROBE and (int(name) - _PROBE) % _STEP == 0)
    )


def is_note(path: str) -> bool:
    """True if a file that is not ignored is a note."""
    return path.endswith(_NOTE)


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
    differences = () if same or old is None else changes.compare_notes(Note.parse(old), Note.parse(new))
    compared = same or old is not None
    if difference.source:
        return NoteMoved(path, difference.source, before, after, origin, differences, compared)
    return NoteEdited(path, before, after, origin, differences, compared)
