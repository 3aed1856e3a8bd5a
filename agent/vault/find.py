"""Finds a note by its path, or by the `id` in its frontmatter; and notes by a line in them."""

import re

from agent.errors import BadPath, NoteGone, UserError
from agent.markdown.note import Note
from agent.texts import joined
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note

_HINT = "vault-agent search WORDS finds its path; vault-agent log shows what was moved or deleted"
_ID = re.compile(r"[0-9A-Za-z]{26}")


def find_note(vault: Vault, name: str) -> str:
    """The path of the note with this `name`: a path from the vault's root, with or without `.md`, or an id.

    Raises `NoteGone` if there is none, and `UserError` for an empty name or an id that several notes have.
    """
    if not name.strip():
        raise UserError("no note is named", hint=_HINT)
    problem: Exception | None = None
    for path in (name, f"{name}.md"):
        try:
            if vault.read(path) is not None:
                return path
        except (BadPath, IsADirectoryError) as error:
            problem = problem or error
    if _ID.fullmatch(name):
        found = sorted(path for path in set(notes_with_text(vault, name)) if _has_id(vault.read(path), name))
        if len(found) > 1:
            raise UserError(
                "{count} notes have the id {name}: {paths}",
                hint="name the path of the one that you mean, and give the other one another id",
                count=len(found),
                name=name,
                paths=joined(found, ", "),
            )
        if found:
            return found[0]
    elif problem is not None:
        raise problem
    raise NoteGone("no note has the path or id {name}", hint=_HINT, name=name)


def _has_id(data: bytes | None, name: str) -> bool:
    return data is not None and (Note.parse(data).id or "").upper() == name.upper()


def notes_with_text(vault: Vault, text: str) -> list[str]:
    """The notes that contain the text in any case, in a commit or not, found by git's search."""
    command = ["grep", "-l", "-z", "-i", "-F", "--untracked", "--no-textconv", "-e", text]
    found = vault.git.fields(*command, ok=(0, 1), drivers_off=True)
    return [path for path in vault.place.in_vault(found) if is_note(path)]


def notes_with_line(vault: Vault, pattern: str) -> list[str]:
    """The notes, in a commit or not, with a line that matches a pattern in git's extended form."""
    command = ["grep", "-l", "-z", "-E", "--untracked", "--no-textconv", "-e", pattern]
    found = vault.git.fields(*command, ok=(0, 1), drivers_off=True)
    return sorted(path for path in vault.place.in_vault(found) if is_note(path))
