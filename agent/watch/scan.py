"""Reading from the disk: the list of files, their `FileStat`, and their bytes in one consistent read.

A scan is authoritative; watchdog's events are only hints. Files in a folder that cannot be read do not count as
deleted. Symbolic links are not followed and do not count as files.
"""

import os
import stat
from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from agent.dataclass import dataclass
from agent.watch.ignore import is_ignored
from agent.watch.snapshot import FileStat, Snapshot

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(slots=True)
class FileScan:
    """The result of a scan. `suspects` are the paths that may have changed, with their `FileStat` (None: missing)."""

    files: int = 0
    suspects: dict[str, FileStat | None] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)


def scan(root: Path, snapshot: Snapshot, ignored: Callable[[str], bool], folder: str = "") -> FileScan:
    """Compare the files below `folder` with the snapshot; reads no file contents.

    `ignored` is called for files and folders, in addition to `is_ignored`. Memory grows with the number of differences
    and the length of the file names.
    """
    result = FileScan()
    there: set[str] = set()
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            entries = _entries(root, current)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            result.unread.append(current)
            continue
        for path, kind in entries:
            if is_ignored(path) or ignored(path):
                continue
            if kind is None:
                waiting.append(path)
                continue
            there.add(path)
            if not snapshot.looks_the_same(path, kind):
                result.suspects[path] = kind
    result.files = len(there)
    unread = tuple(f"{path}/" if path else "" for path in result.unread)
    for path in snapshot.below(folder):
        if path not in there and not path.startswith(unread):
            result.suspects[path] = None
    return result


def _entries(root: Path, folder: str) -> list[tuple[str, FileStat | None]]:
    """A folder's files with their `FileStat`, and its subfolders with None; other entries are left out."""
    found: list[tuple[str, FileStat | None]] = []
    with os.scandir(root / folder) as entries:
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    found.append((path, None))
                elif entry.is_file(follow_symlinks=False):
                    found.append((path, _look(entry.stat(follow_symlinks=False))))
            except FileNotFoundError:
                continue
    return found


def stat_file(root: Path, path: str) -> FileStat | None:
    """The file's `FileStat`, None for no file. Raises `OSError` when it cannot be read."""
    try:
        status = os.lstat(f"{root}/{path}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _look(status) if stat.S_ISREG(status.st_mode) else None


def read_file(root: Path, path: str) -> tuple[bytes, FileStat] | None:
    """The file's bytes and its `FileStat` when they were read; None for no file.

    Raises `OSError` when it cannot be read, and `BlockingIOError` when it was written during the read.
    """
    try:
        descriptor = os.open(f"{root}/{path}", _FILE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            return None
        size = before.st_size
        data = os.read(descriptor, size + 1)  # each call may release the GIL: no file object
        while 0 < len(data) < size and (more := os.read(descriptor, size + 1 - len(data))):
            data += more
        after = _look(os.fstat(descriptor))
    finally:
        os.close(descriptor)
    if _look(before) != after or len(data) != after.size:
        raise BlockingIOError(f"{path} is being written")
    return data, after


def _look(status: os.stat_result) -> FileStat:
    return FileStat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
