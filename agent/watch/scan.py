"""Reading from the disk: the list of files, their `FileStat`, and their bytes in one consistent read.

A scan is authoritative; watchdog's events are only hints. Files in a folder that cannot be read do not count as
deleted. Symbolic links are not followed and do not count as files.
"""

import os
import stat
from collections.abc import Callable, Container
from dataclasses import field
from pathlib import Path

from agent.dataclass import dataclass
from agent.watch.classify import GIT_RULES, is_temporary
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
            files, folders = _entries(root, current, ignored)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            result.unread.append(current)
            continue
        there.update(files)
        result.suspects.update(snapshot.differing(files))
        waiting += folders
    result.files = len(there)
    _add_missing(result, snapshot, there, folder)
    return result


def compare(seen: FileScan, snapshot: Snapshot) -> FileScan:
    """The result of a scan of the whole vault against an empty snapshot, now against this one."""
    result = FileScan(seen.files, dict(snapshot.differing(seen.suspects)), seen.unread)
    _add_missing(result, snapshot, seen.suspects, "")
    return result


def _add_missing(result: FileScan, snapshot: Snapshot, there: Container[str], folder: str) -> None:
    """Add the known files that are not there, but for those in folders that could not be read."""
    unread = tuple(f"{path}/" if path else "" for path in result.unread)
    for path in snapshot.below(folder):
        if path not in there and not path.startswith(unread):
            result.suspects[path] = None


def _entries(root: Path, folder: str, ignored: Callable[[str], bool]) -> tuple[dict[str, FileStat], list[str]]:
    """The files of a folder with their `FileStat`, and its subfolders, without those that are ignored.

    The folder itself is not ignored, so that only the names in it need be looked at.
    """
    files, folders = dict[str, FileStat](), list[str]()
    above = f"{folder}/" if folder else ""
    with os.scandir(f"{root}/{folder}") as entries:
        for entry in entries:
            name = entry.name
            if (name.startswith(".") and name != GIT_RULES) or is_temporary(name) or ignored(path := above + name):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if stat.S_ISREG(status.st_mode):
                files[path] = _look(status)
            elif stat.S_ISDIR(status.st_mode) and name != GIT_RULES:
                folders.append(path)
    return files, folders


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
