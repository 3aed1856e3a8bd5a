"""A copy of a vault's notes for a program, and the list of the program's changes.

The program never changes the vault itself: a person's saves meanwhile cannot be lost, and the program's changes are
known exactly, so that they can be committed in the agent's name or dropped.
"""

import os
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from stat import S_ISREG

from agent.dataclass import dataclass
from agent.errors import Interrupted
from agent.llm.messages import Cancelled
from agent.tools.tool import Draft
from agent.vault.store import Vault

LARGEST = 5 << 20
"""The most bytes of a file that is copied back."""
MOST = 100_000
"""The most files that are compared afterwards."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of a program: the notes before and after, and the rejected files with the reason."""

    drafts: tuple[Draft, ...]
    left: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class WorkingCopy:
    """The copy in `folder`, with the notes as they were copied."""

    folder: Path
    before: dict[str, bytes] = field(default_factory=dict)
    _marks: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, vault: Vault, folder: Path, cancelled: Cancelled) -> "WorkingCopy":
        """A copy of every note of the vault in `folder`, which is created; raises `Interrupted`."""
        copy = cls(folder)
        folder.mkdir(mode=0o700)
        for path in vault.note_paths():
            if cancelled():
                raise Interrupted("shell_run was cancelled before it began")
            data = vault.read(path)
            if data is not None:
                copy._put(path, data)
        return copy

    def _put(self, path: str, data: bytes) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self.before[path] = data
        self._marks[path] = _mark(target.lstat())

    def changes(self) -> Changes:
        """The differences from the copied notes."""
        drafts: list[Draft] = []
        left: list[tuple[str, str]] = []
        for path, found, descriptor in self._files():
            before = self.before.get(path)
            if before is not None and _mark(found) == self._marks[path]:
                continue
            data = _read(path, found, descriptor)
            if isinstance(data, str):
                left.append((path, data))
            elif data != before:
                drafts.append(Draft(path, before, data))
        for path, before in self.before.items():
            gone = _is_gone(self.folder / path)
            if gone:
                drafts.append(Draft(path, before, None))
        return Changes(tuple(sorted(drafts, key=lambda draft: draft.path)), tuple(left))

    def _files(self) -> Iterator[tuple[str, os.stat_result, int]]:
        """Yield every file: its path in the copy, its state, its folder's descriptor; links are not followed."""
        count = 0
        for folder, folders, names, descriptor in os.fwalk(self.folder, follow_symlinks=False):
            prefix = os.path.relpath(folder, self.folder)
            links = [name for name in folders if (Path(folder) / name).is_symlink()]
            for name in (*names, *links):
                count += 1
                if count > MOST:
                    return
                path = name if prefix == "." else f"{prefix}/{name}"
                try:
                    found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                except OSError:
                    continue
                yield path, found, descriptor


def _mark(found: os.stat_result) -> tuple[int, int, int]:
    """Inode, size and change time: they differ after a write, because no program can set the change time."""
    return found.st_ino, found.st_size, found.st_ctime_ns


def _read(path: str, found: os.stat_result, descriptor: int) -> bytes | str:
    """A file's bytes, or the reason for rejecting it."""
    if not S_ISREG(found.st_mode):
        return "no plain file"
    if found.st_size > LARGEST:
        return f"larger than {LARGEST >> 20} MB"
    try:
        file = os.open(
            path.rpartition("/")[2], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=descriptor
        )
    except OSError:
        return "cannot be read"
    with os.fdopen(file, "rb") as stream:
        data = stream.read(LARGEST + 1)
    return data if len(data) <= LARGEST else f"larger than {LARGEST >> 20} MB"


def _is_gone(path: Path) -> bool:
    """True if `path` does not exist; a path that cannot be checked may still exist."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
