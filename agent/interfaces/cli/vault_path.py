"""Paths as people type them: relative to where they are, or to the vault."""

import os
from pathlib import Path

from agent.errors import BadPath


def path_in_vault(text: str, root: Path) -> str:
    """A note's or folder's path relative to the vault at `root`; raises `BadPath` for one outside.

    A relative path is taken from the working folder when that lies in the vault and the path exists there, else from
    the vault's root. The note need not exist any more.
    """
    here = Path.cwd()
    absolute = Path(os.path.abspath(text))  # noqa: PTH100 - a link in the vault is named, not followed
    if not Path(text).is_absolute() and (not here.resolve().is_relative_to(root.resolve()) or not absolute.exists()):
        absolute = Path(os.path.normpath(root / text))
    for base in (root, root.resolve()):
        if absolute.is_relative_to(base):
            found = absolute.relative_to(base).as_posix()
            return "" if found == "." else found
    raise BadPath(f"{text} is not inside the vault {root}", hint="give it relative to the vault")
