"""Ignored paths: editors' and sync programs' temporary files, and the folders that belong to programs.

By name alone, as most are gone again before anyone could look. Everything below a name that begins with a dot is left
out, which takes care of `.git`, `.obsidian`, `.trash`, `.stfolder`, vim's `.x.swp`, Emacs's `.#x`, rsync's
`.x.Ab12Cd`, Syncthing's `.syncthing.x.tmp` and our own `.vault-agent-…`. Apart from those every name that ends in
`.md` is a note, as the rest of the product has it: conflict copies too.
"""

import re

_NAMES = frozenset({"Thumbs.db", "desktop.ini", "Icon\r"})
_ENDINGS = ("~", ".swp", ".swo", ".swx", ".tmp", ".part", ".partial", ".crdownload", ".vsctmp", ".lock")
_PATTERNS = re.compile(r"#.*#|.*___jb_(?:tmp|old|bak)___|sed[A-Za-z0-9]{6}|~\$.*(?<!\.md)", re.DOTALL)
"""Emacs's unsaved text, JetBrains' safe write, `sed -i`, office programs' locks."""
_PROBE, _STEP = 4913, 123
"""vim asks whether it may write to a folder by making `4913` there, or that and a multiple of 123."""


def is_ignored(path: str) -> bool:
    """Whether the file or folder at this path, relative to the vault, is never to be looked at."""
    return path.startswith(".") or "/." in path or is_temporary(path.rpartition("/")[2])


def is_temporary(name: str) -> bool:
    """Whether files of this name are put down for a moment only, or are some program's own."""
    return (
        name.endswith(_ENDINGS)
        or name in _NAMES
        or _PATTERNS.fullmatch(name) is not None
        or (name.isdecimal() and len(name) < 7 and int(name) >= _PROBE and (int(name) - _PROBE) % _STEP == 0)
    )


def is_note(path: str) -> bool:
    """Whether a file that is not ignored is a note."""
    return path.endswith(".md")
