"""Finds a note by a path as people type it, by its name, or by its id."""

import os
from pathlib import Path

from agent.errors import BadPath
from agent.vault.find import find_named_note
from agent.vault.store import Vault


def named_note(vault: Vault, text: str) -> str:
    """The path of the note that a person names by a path, as `path_in_vault` has it, by its name or by an id.

    Raises what `find_named_note` and `path_in_vault` raise.
    """
    return find_named_note(vault, path_in_vault(text, vault.place.root) if text.strip() else text)


def path_with_changes(text: str, root: Path) -> str:
    """The note or folder of the vault at `root` whose changes a person asks for, which need not exist any more; that of
    a note may lack its `.md` as long as the note exists. Raises what `path_in_vault` raises."""
    path = path_in_vault(text, root)
    note = f"{path}.md"
    return note if not (root / path).exists() and (root / note).exists() else path


def path_in_vault(text: str, root: Path) -> str:
    """A note's or folder's path relative to the vault at `root`; raises `BadPath` for one outside.

    A relative path starts at the working folder if that is in the vault and the path, or that with `.md`, exists there,
    else at the vault's root. The note need not exist any more.
    """
    here = Path.cwd()
    absolute = Path(os.path.abspath(text))  # noqa: PTH100 - a link in the vault is named, not followed
    is_there = here.resolve().is_relative_to(root.resolve()) and (absolute.exists() or Path(f"{absolute}.md").exists())
    if not Path(text).is_absolute() and not is_there:
        absolute = Path(os.path.normpath(root / text))
    for base in (root, root.resolve()):
        if absolute.is_relative_to(base):
            found = absolute.relative_to(base).as_posix()
            return "" if found == "." else found
    raise BadPath("{text} is not inside the vault {root}", hint="give it relative to the vault", text=text, root=root)
