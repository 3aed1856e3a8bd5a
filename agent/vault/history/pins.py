"""Pins for quotations: the commit of HEAD, if it has the quoted note in its present form; and the pinned notes again.

A note that no commit has as it is can be pinned by the id of its content, which a later commit may have.
"""

import re
from collections.abc import Collection

from agent.dataclass import dataclass
from agent.errors import BadPath
from agent.vault.history.rewritten import load_rewritten
from agent.vault.store import Vault
from agent.vault.worktree.paths import check

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Pins:
    """The commit of HEAD, and the notes that differ from it."""

    head: str | None = None
    edited: frozenset[str] = frozenset()

    def commit(self, path: str) -> str | None:
        """The commit that has the note in its present form; None if there is none."""
        return None if path in self.edited else self.head


def pins(vault: Vault, paths: Collection[str]) -> Pins:
    """The pins of these notes; no other note is read, and nothing if there are none."""
    if not paths:
        return Pins()
    edited = frozenset(item.path for item in vault.changed_files(paths))
    return Pins(vault.head, edited)


def read_pinned(vault: Vault, pinned: Collection[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
    """The contents of notes (path, id of a commit or of the content), read by one process.

    A commit that a purge has written anew is read in its new form. A note that this commit does not have, content that
    is neither in the history nor in the note, a note in which a purge has moved the lines, and what is no path or no
    id, are left out.
    """
    asked = [each for each in dict.fromkeys(pinned) if _ID.fullmatch(each[1]) and _is_path(each[0])]
    rewritten = load_rewritten(vault)
    now = ((path, rewritten.commits.get(pin, pin)) for path, pin in asked)
    names = [name for path, pin in now for name in (f"{pin}:{vault.place.prefix}{path}", pin)]
    blobs = vault.read_blobs(names)
    found: dict[tuple[str, str], bytes] = {}
    for each, in_commit, content in zip(asked, blobs[::2], blobs[1::2], strict=True):
        data = in_commit if in_commit is not None else content
        data = _present(vault, *each) if data is None else data
        has_moved = each[1] in rewritten.commits and data is not None and vault.content_id(data) in rewritten.shifted
        found |= {each: data} if data is not None and not has_moved else {}
    return found


def _present(vault: Vault, path: str, content: str) -> bytes | None:
    """The note's bytes, if they have this id."""
    data = vault.read(path)
    return data if data is not None and vault.content_id(data) == content else None


def _is_path(path: str) -> bool:
    try:
        check(path)
    except BadPath:
        return False
    return True
