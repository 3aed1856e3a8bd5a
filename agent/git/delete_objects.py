"""Deletes objects from a repository, loose and packed. Nothing else in this program deletes an object of git.

A pack with such an object is replaced by one without it, which is complete on disk before the old one goes: a kill in
between leaves an object twice, never one too few. The caller keeps all other programs away meanwhile.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from agent.config import durable
from agent.errors import Permanent
from agent.git.repository import common_folder
from agent.git.runner import Git

_BESIDE = (".idx", ".pack", ".rev", ".bitmap", ".mtimes", ".promisor")
"""The files of one pack, in the order in which they are deleted: without its index, git does not see a pack."""


def delete_objects(git: Git, ids: Collection[str]) -> None:
    """Delete these objects from this repository's own files; those in kept packs and in other repositories stay.

    Files that git writes while an object arrives, and that a killed one has left, go too. Raises `Permanent` if a new
    pack is not complete; then no old one is deleted.
    """
    objects = common_folder(git.gitdir) / "objects"
    _drop_derived(objects)
    for index in sorted((objects / "pack").glob("pack-*.idx")):
        packed = _packed(git, index)
        if not packed.isdisjoint(ids) and not index.with_suffix(".keep").exists():
            _pack_again(git, index, packed.difference(ids))
    for oid in ids:
        (objects / oid[:2] / oid[2:]).unlink(missing_ok=True)
    for left in (*objects.glob("*/tmp_obj_*"), *(objects / "pack").glob("tmp_*"), *(objects / "pack").glob(".tmp-*")):
        left.unlink(missing_ok=True)


def existing(git: Git, ids: Collection[str]) -> list[str]:
    """Those of these objects that the repository can still read."""
    asked = "".join(f"{oid}\n" for oid in ids).encode()
    rows = git.run("cat-file", "--batch-check=%(objectname)", stdin=asked).decode().splitlines() if ids else []
    return [row for row in rows if not row.endswith(" missing")]


def _drop_derived(objects: Path) -> None:
    """Delete what git has computed of its objects and computes again: it would name commits that are gone."""
    for path in _derived(objects):
        path.unlink(missing_ok=True)
    (objects.parent / "info" / "refs").unlink(missing_ok=True)
    with suppress(OSError):
        (objects / "info" / "commit-graphs").rmdir()


def _derived(objects: Path) -> Iterator[Path]:
    yield objects / "info" / "commit-graph"
    yield from (objects / "info" / "commit-graphs").glob("*")
    yield from (objects / "pack").glob("multi-pack-index*")


def _packed(git: Git, index: Path) -> set[str]:
    form = "sha256" if git.width == 64 else "sha1"
    with index.open("rb") as file:
        rows = git.run("show-index", f"--object-format={form}", stdin=file).decode().splitlines()
    return {row.split(" ")[1] for row in rows}


def _pack_again(git: Git, index: Path, left: Collection[str]) -> None:
    """Replace a pack by one with what is left of it."""
    folder = index.parent
    if left:
        command = ["pack-objects", "-q", "--threads=1", "--window-memory=100m", str(folder / "pack")]
        name = git.run(*command, stdin="".join(f"{oid}\n" for oid in sorted(left)).encode()).decode().strip()
        made = folder / f"pack-{name}.idx"
        if not made.exists() or _packed(git, made) != set(left):
            raise Permanent("a new pack of the history is not complete", hint="git fsck shows what is missing")
        durable.flush_folder(folder)
    for suffix in _BESIDE:
        index.with_suffix(suffix).unlink(missing_ok=True)
    durable.flush_folder(folder)
