"""A last look for a forgotten text in files that are no notes: of the vault, and of this machine's state and cache."""

import os
from collections.abc import Iterator
from pathlib import Path

from agent.memory.forgetting.said_again import SaidAgain
from agent.vault.store import Vault

_LARGEST = 32 << 20
"""Bytes of a file that is looked into."""
_MOST = 20


def remaining(vault: Vault, said: SaidAgain, cache: Path) -> tuple[str, ...]:
    """The files that still quote the text: relative to the vault, or absolute outside it; not what git keeps.

    Notes are left out: those that still say it are a person's own, and named by the plan.
    """
    root = vault.place.root
    inside = (str(path.relative_to(root)) for path in _files(root) if path.suffix != ".md" and _quotes(path, said))
    outside = (str(path) for folder in (vault.private_folder, cache) for path in _files(folder) if _quotes(path, said))
    return tuple(sorted([*inside, *outside])[:_MOST])


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (Path(parent, name) for name in names)


def _quotes(path: Path, said: SaidAgain) -> bool:
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST:
            return False
        data = path.read_bytes()
    except OSError:
        return False
    text = data.decode("utf-8", "ignore")
    if data.isascii() and b"\\u" in data:
        text += data.decode("unicode-escape", "ignore")
    return said.is_quoted(text)
