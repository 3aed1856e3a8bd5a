"""Objects in files of their own, written and read without git: the few of one commit. More of them, or large ones, are
stored by git; older ones are in packs, which only git reads.

A process of git takes longer than the files. What is written is what git writes: a file beside the object's place,
flushed where git flushes it, readable by all, renamed when it is whole. A repository that is shared by several accounts
of the machine has rights of its own, and is left to git.
"""

import os
import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from agent.vault.plumbing.git import Git
from agent.vault.plumbing.objects import NewObject, Pack
from agent.vault.plumbing.repository import common_folder

_SHARED = re.compile(rb"sharedRepository", re.IGNORECASE)
_LEVEL = 1
"""zlib's, as git has it for these files."""


def store(git: Git, pack: Pack) -> None:
    """Write the objects of a pack into the repository; raises `GitFailed` where that cannot be done."""
    if pack.few is not None and _store_few(common_folder(git.gitdir), pack.few, durable=git.durable):
        return
    with pack.stream() as stream:
        git.run(*pack.store_command, stdin=stream)


def _store_few(gitdir: Path, objects: Iterable[NewObject], *, durable: bool) -> bool:
    """Write the objects that are not there; False if git has to do it, or can say better what is wrong."""
    try:
        if _SHARED.search((gitdir / "config").read_bytes()):
            return False
        for each in objects:
            _store_one(gitdir / "objects" / each.oid[:2], each, durable=durable)
    except OSError:
        return False
    return True


def _store_one(folder: Path, new: NewObject, *, durable: bool) -> None:
    path = folder / new.oid[2:]
    with suppress(FileNotFoundError):
        os.utime(path)  # an old one that nothing refers to might be removed as rubbish at this moment
        return
    squeeze = zlib.compressobj(_LEVEL)
    content = squeeze.compress(f"{new.kind} {len(new.data)}\0".encode()) + squeeze.compress(new.data) + squeeze.flush()
    draft = folder / f"tmp_obj_{os.urandom(6).hex()}"  # the name by which git finds and removes what a crash left
    folder.mkdir(exist_ok=True)
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(descriptor)
        draft.rename(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


_MOST = 4 << 20
"""The most compressed bytes that are read here: git needs less memory for a film."""


def load_loose(gitdir: Path, oid: str, kind: str) -> bytes | None:
    """The content of a loose object of this kind; None if it is missing or cannot be read.

    `gitdir` is the repository's shared folder.
    """
    found = load_object(gitdir, oid)
    return found[1] if found is not None and found[0] == kind else None


def load_object(gitdir: Path, oid: str) -> tuple[str, bytes] | None:
    """The type and the content of a loose object; None if it is missing, large, or not in the form that git writes."""
    try:
        with (gitdir / "objects" / oid[:2] / oid[2:]).open("rb") as file:
            squeezed = file.read(_MOST + 1)
        if len(squeezed) > _MOST:
            return None
        data = zlib.decompress(squeezed)
    except (OSError, zlib.error):
        return None
    head, _, content = data.partition(b"\0")
    kind, _, size = head.partition(b" ")
    return (kind.decode("ascii", "replace"), content) if size == b"%d" % len(content) else None
