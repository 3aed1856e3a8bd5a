"""Keeps git quick in a vault with many commits: folds loose objects into packs, and writes git's commit graph.

It takes no lock of the vault and deletes no object: what nothing refers to is packed too, since the journal, a rescue
reference or a person may still need it. Other programs may write, repack or collect garbage meanwhile.
"""

import os
from contextlib import suppress
from pathlib import Path

from agent.clock import time_on_clock
from agent.dataclass import dataclass
from agent.errors import GitFailed
from agent.git.repository import common_folder
from agent.git.runner import Git
from agent.vault.history.commit_index import load_index
from agent.vault.store import Vault

LOOSE = 2_000
"""Loose objects from which they are folded: about 400 commits of this program."""
_LOOSE_REFS = 500
_LONG_HISTORY = 4 << 20
"""Bytes of packs from which a repository without a commit graph gets one."""
_COLLECTING = 12 * 3600
"""Seconds after which git takes the mark of a `git gc` for a forgotten one."""
_UNUSED_BASE = 86_400.0
"""Seconds after which the base of a split index that the index does not name any more is deleted (git: two weeks)."""
SECONDS = 3_600.0
"""The time limit of one git command here; it works on by itself while the vault is used."""
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Packing:
    """What one packing did: loose objects before and after, and whether the commit graph was written."""

    before: int
    after: int
    graph: bool


def is_packing_due(vault: Vault) -> bool:
    """True if there are many loose objects or references, or a long history without a commit graph; asks no git."""
    common = common_folder(vault.place.gitdir)
    if _is_collecting(vault, common) or (common / "shallow").exists():
        return False
    return _count(common) >= LOOSE or _lacks_graph(common) or _has_many_refs(common)


def pack(vault: Vault) -> Packing:
    """Fold loose objects and small packs into one pack, write the commit graph, and bring the history's index up to
    date; raises `GitFailed`, after which everything is as useful as before."""
    place = vault.place
    common = common_folder(place.gitdir)
    git = Git(place.gitdir, place.worktree, durable=vault.options.durable, timeout=SECONDS)
    before = _count(common)
    if before:
        _fold(git)
    if _has_many_refs(common):
        git.run("pack-refs", "--all")
    _drop_unused_bases(vault)
    has_history = vault.head is not None and not (common / "shallow").exists()
    if has_history:
        # With the paths that each commit changed (Bloom filters), `git log NOTE` reads few trees.
        git.run("commit-graph", "write", "--reachable", "--changed-paths", "--split", "--no-progress")
        load_index(vault)
    return Packing(before, _count(common), has_history)


def _fold(git: Git) -> None:
    """Put loose objects and small packs into one pack, again if another program has removed one of them meanwhile."""
    for left in reversed(range(_TRIES)):
        try:
            # A pack takes in all smaller ones, so that their number stays small and a large one is hardly ever written
            # again; unreachable objects, packed or loose, are taken along. `-n`: no files for a web server.
            git.run("repack", "--geometric=2", "-d", "-l", "-q", "-n", "--threads=1", "--window-memory=100m")
        except GitFailed:
            if not left:
                raise
        else:
            return


def _drop_unused_bases(vault: Vault) -> None:
    """Delete the old bases of a split index, each as large as an index of all notes; every use by git renews their
    time."""
    gitdir, now = vault.place.gitdir, vault.clock.now().timestamp()
    try:
        index = (gitdir / "index").read_bytes()
    except OSError:
        return
    for base in gitdir.glob("sharedindex.*"):
        with suppress(OSError, ValueError):
            is_named = bytes.fromhex(base.name.partition(".")[2]) in index
            if not is_named and now - time_on_clock(vault.clock, base.stat().st_mtime) >= _UNUSED_BASE:
                base.unlink()


def _count(common: Path) -> int:
    """The number of loose objects; unlike `os.scandir`, `os.walk` passes over a folder that is removed meanwhile."""
    folders = (common / "objects" / f"{number:02x}" for number in range(256))
    return sum(len(names) for folder in folders for _, _, names in os.walk(folder))


def _lacks_graph(common: Path) -> bool:
    info = common / "objects" / "info"
    if (info / "commit-graph").exists() or (info / "commit-graphs").exists():
        return False
    packed = 0
    for path in (common / "objects" / "pack").glob("*.pack"):
        with suppress(FileNotFoundError):  # another program has packed it anew
            packed += path.stat().st_size
    return packed >= _LONG_HISTORY


def _has_many_refs(common: Path) -> bool:
    return sum(len(names) for _, _, names in os.walk(common / "refs")) >= _LOOSE_REFS


def _is_collecting(vault: Vault, common: Path) -> bool:
    """True while `git gc` works here: it does the same. Its mark counts as long as for git itself."""
    try:
        age = vault.clock.now().timestamp() - time_on_clock(vault.clock, (common / "gc.pid").stat().st_mtime)
    except OSError:
        return False
    return age < _COLLECTING
