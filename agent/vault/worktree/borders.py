"""Paths inside the vault at which nothing of ours is written: other repositories, and notes that git keeps away.

A folder with a `.git` of its own is another repository, and so is what the last commit or the index has as a submodule,
even while its folder is empty: a file written below it would replace it in our commit. A note that a sparse checkout
keeps out of the working tree only looks like one that is not there: a new file in its place would replace it.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import product
from pathlib import Path

from agent.errors import BadPath
from agent.vault.plumbing.commit import Tip
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.index_file import load_index
from agent.vault.plumbing.objects import MODULE
from agent.vault.plumbing.repository import Place

_MARKS = tuple("." + "".join(letters) for letters in product("gG", "iI", "tT"))
"""`.git` in every spelling: a file system that ignores case takes each of them for git's."""


def check_ours(git: Git, place: Place, paths: Collection[str]) -> None:
    """Raise `BadPath` for the first path at which nothing of ours may be written."""
    for reason in closed(git, place, paths).values():
        raise reason


def closed(git: Git, place: Place, paths: Collection[str]) -> dict[str, BadPath]:
    """Those of the paths at which nothing of ours may be written, each with the error that says why.

    Its cost does not grow with the number of notes, but where there are submodules or a sparse checkout.
    """
    known: dict[str, bool] = {}
    found: dict[str, BadPath] = {}
    above = {_bytes(folder) for path in paths for folder in (*_above(place.prefix + path), place.prefix + path)}
    index = load_index(git)
    modules = {_text(folder) for folder in index.submodules(above)}
    for path in paths:
        for folder in (*_above(path), path):
            if is_repository(place.root, folder, known) or place.prefix + folder in modules:
                found[path] = _foreign(path, folder)
                break
        else:
            if around := modules.intersection(_above(place.prefix)):  # the vault lies in a submodule that is not here
                found[path] = _foreign(path, min(around))
    absent = {_bytes(place.prefix + path): path for path in paths if not os.path.lexists(place.root / path)}
    for name in index.skipped(absent):
        found[absent[name]] = BadPath(
            f"{absent[name]} is a note of this vault that git keeps out of this folder (a sparse checkout)",
            hint="bring it here first: git sparse-checkout add FOLDER, or git sparse-checkout disable",
        )
    return found


def check_tip(tip: Tip, paths: Iterable[bytes]) -> None:
    """Raise `BadPath` for the first path (inside the repository) that is a submodule's in the last commit."""
    for path in paths:
        folder = submodule_above(tip, path)
        if folder is not None:
            raise _foreign(_text(path), _text(folder))


def submodule_above(tip: Tip, path: bytes) -> bytes | None:
    """The submodule of the last commit that the path is, or lies below; None where it is ours."""
    for folder in (*map(_bytes, _above(_text(path))), path):
        entry = tip.entry(folder)
        if entry is not None and entry.mode == MODULE:
            return folder
    return None


def is_foreign(root: Path, path: str, known: dict[str, bool]) -> bool:
    """Whether a folder above the path has a `.git`; `known` keeps the answers by folder for the next path."""
    return any(is_repository(root, folder, known) for folder in _above(path))


def is_repository(root: Path, folder: str, known: dict[str, bool]) -> bool:
    """Whether a folder of the vault has a `.git`, in any spelling; `known` keeps the answers."""
    if folder not in known:
        known[folder] = any(os.path.lexists(f"{root}/{folder}/{mark}") for mark in _MARKS)
    return known[folder]


def _above(path: str) -> Iterator[str]:
    """The folders above a path, outermost first; the root is not among them."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _foreign(path: str, folder: str) -> BadPath:
    where = f"{path} is" if path == folder else f"{path} lies in {folder}, which is"
    return BadPath(
        f"{where} a repository of its own (a submodule or a clone); nothing was written",
        hint="change it there with git, or choose a path outside of it",
    )


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
