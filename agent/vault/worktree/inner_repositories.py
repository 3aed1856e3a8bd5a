"""Which folders of the vault are repositories of their own, as far as a look at the folders tells."""

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

_MARKS = tuple("." + "".join(letters) for letters in product("gG", "iI", "tT"))
"""`.git` in every spelling: a file system that ignores case treats them all as git's folder."""


def is_foreign(root: Path, path: str, known: dict[str, bool]) -> bool:
    """True if a folder above the path has a `.git`; `known` caches the answers by folder."""
    return any(is_repository(root, folder, known) for folder in folders_above(path))


def is_repository(root: Path, folder: str, known: dict[str, bool]) -> bool:
    """True if a folder of the vault has a `.git`, in any spelling; `known` caches the answers."""
    if folder not in known:
        known[folder] = any(os.path.lexists(f"{root}/{folder}/{mark}") for mark in _MARKS)
    return known[folder]


def folders_above(path: str) -> Iterator[str]:
    """The folders above a path, outermost first, without the root."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
