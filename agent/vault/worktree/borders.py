"""Paths inside the vault at which this program must not write: other repositories, and excluded notes.

A folder with its own `.git` is another repository. So is a submodule of the last commit or the index, even if its
folder is empty: a file written below it would replace it in the commit. A note excluded by a sparse checkout looks like
a missing one: a new file would replace it.
"""

import os
import shlex
from collections.abc import Collection, Iterable

from agent.errors import BadPath
from agent.vault.held_back import load_held_back
from agent.vault.plumbing.commit import Tip
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.index_file import load_index
from agent.vault.plumbing.object_ids import MODULE
from agent.vault.plumbing.repository import Place
from agent.vault.worktree.survey import folders_above, is_repository


def check_ours(git: Git, place: Place, paths: Collection[str]) -> None:
    """Raise `BadPath` for the first path at which this program must not write."""
    for reason in closed(git, place, paths).values():
        raise reason


def closed(git: Git, place: Place, paths: Collection[str]) -> dict[str, BadPath]:
    """The paths at which this program must not write, each with the error that explains it.

    The cost grows with the number of notes only if there are submodules or a sparse checkout.
    """
    known: dict[str, bool] = {}
    found: dict[str, BadPath] = {}
    above = {_bytes(folder) for path in paths for folder in (*folders_above(place.prefix + path), place.prefix + path)}
    index = load_index(git)
    modules = {_text(folder) for folder in index.submodules(above)}
    for path in paths:
        for folder in (*folders_above(path), path):
            if is_repository(place.root, folder, known) or place.prefix + folder in modules:
                found[path] = _foreign(path, folder)
                break
        else:
            if around := modules.intersection(folders_above(place.prefix)):  # the vault is in an absent submodule
                found[path] = _foreign(path, min(around))
    held = load_held_back(git.gitdir)
    found |= {path: _private(path) for path in paths if place.prefix + path in held.private}
    absent = {_bytes(place.prefix + path): path for path in paths if not os.path.lexists(place.root / path)}
    for name in index.skipped(absent):
        if held.is_accepted(_text(name)):
            continue
        if held.is_about(_text(name)):
            found[absent[name]] = _held(absent[name])
            continue
        found[absent[name]] = BadPath(
            "{path} is a note of this vault that git keeps out of this folder (a sparse checkout)",
            hint="bring it here first: git sparse-checkout add FOLDER, or git sparse-checkout disable",
            path=absent[name],
        )
    return found


def check_tip(tip: Tip, paths: Iterable[bytes]) -> None:
    """Raise `BadPath` for the first path (inside the repository) that belongs to a submodule of the last commit."""
    for path in paths:
        folder = submodule_above(tip, path)
        if folder is not None:
            raise _foreign(_text(path), _text(folder))


def submodule_above(tip: Tip, path: bytes) -> bytes | None:
    """The submodule of the last commit that contains the path, or is the path; None if there is none."""
    for folder in (*map(_bytes, folders_above(_text(path))), path):
        entry = tip.entry(folder)
        if entry is not None and entry.mode == MODULE:
            return folder
    return None


def _private(path: str) -> BadPath:
    return BadPath(
        "{path} is kept out of git here, and others have a file of this name: what is written there would reach them",
        hint="use another path; vault-agent trust shows what is held back",
        path=path,
    )


def _held(path: str) -> BadPath:
    return BadPath(
        "{path} came from elsewhere and is held back until you have looked at it",
        hint="vault-agent trust {name}",
        path=path,
        name=shlex.quote(path),
    )


def _foreign(path: str, folder: str) -> BadPath:
    return BadPath(
        "{path} is a repository of its own (a submodule or a clone); nothing was written"
        if path == folder
        else "{path} lies in {folder}, which is a repository of its own (a submodule or a clone); nothing was written",
        hint="change it there with git, or choose a path outside of it",
        path=path,
        folder=folder,
    )


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
