"""Lists, reads and hashes the files of a skill's folder without following a link or leaving the folder.

Unlike the vault's reads, these do not wait for the end of a save: its file event makes the library read the file again.
"""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from agent.dataclass import dataclass

MOST_FILES = 500
DEEPEST = 6
LARGEST = 64 * 1024 * 1024
"""The most bytes of a whole skill: enough for fonts and templates, too few for a data set."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class BadFolder(ValueError):
    """A folder that cannot be used as a skill; the message is the reason."""


@dataclass(frozen=True, slots=True)
class File:
    """A regular file; `path` is relative to the skill's folder. `stamp` changes with every write."""

    path: str
    size: int
    stamp: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Listing:
    """The regular files of a folder, sorted by path, and the paths left out as links or special files."""

    files: tuple[File, ...]
    strange: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@contextmanager
def _opened(root: Path, folder: str) -> Iterator[int]:
    """The open folder; raises `BadFolder` if a part of the path is a link or no folder, and `OSError`."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in filter(None, folder.split("/")):
            try:
                below = os.open(part, _FOLDER, dir_fd=here)
            except OSError as error:
                if error.errno not in {errno.ELOOP, errno.ENOTDIR}:
                    raise
                raise BadFolder(f"{part} is a link or no folder; links are not followed, copy it instead") from error
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


def folder_names(root: Path, folder: str) -> list[str]:
    """The names in a folder that are neither regular files nor hidden, sorted; empty if the folder does not exist."""
    try:
        with _opened(root, folder) as here, os.scandir(here) as entries:
            found = [entry.name for entry in entries if not entry.is_file(follow_symlinks=False)]
    except (OSError, BadFolder):
        return []
    return sorted(name for name in found if not name.startswith("."))


def list_files(root: Path, folder: str) -> Listing:
    """The files in a skill's folder that are not hidden; raises `BadFolder`, and `OSError` if it does not exist."""
    files: list[File] = []
    strange: list[str] = []
    with _opened(root, folder) as top:
        _walk(top, "", 1, files, strange)
    if sum(file.size for file in files) > LARGEST:
        raise BadFolder(f"it is larger than {LARGEST // (1 << 20)} MB together")
    return Listing(tuple(sorted(files, key=lambda file: file.path)), tuple(sorted(strange)))


def _walk(here: int, prefix: str, depth: int, files: list[File], strange: list[str]) -> None:
    if depth > DEEPEST:
        raise BadFolder(f"its folders are nested more than {DEEPEST} deep")
    with os.scandir(here) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if len(files) + len(strange) >= MOST_FILES:
                raise BadFolder(f"it has more than {MOST_FILES} files")
            path = prefix + entry.name
            if not path.isprintable():
                strange.append(ascii(path)[1:-1])
            elif entry.is_dir(follow_symlinks=False):
                below = os.open(entry.name, _FOLDER, dir_fd=here)
                try:
                    _walk(below, f"{path}/", depth + 1, files, strange)
                finally:
                    os.close(below)
            elif entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                files.append(File(path, status.st_size, (status.st_ctime_ns, status.st_ino)))
            else:
                strange.append(path)


def read_file(root: Path, folder: str, path: str, longest: int) -> bytes:
    """The bytes of a skill's file; raises `BadFolder` for a link, a special file or a longer one, and `OSError`."""
    above, _, name = path.rpartition("/")
    with _opened(root, f"{folder}/{above}") as here:
        try:
            descriptor = os.open(name, _FILE, dir_fd=here)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise BadFolder(f"{path} cannot be read: {error.strerror}") from error
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise BadFolder(f"{path} is not a plain file")
            data = file.read(longest + 1) if status.st_size <= longest else b""
    if status.st_size > longest or len(data) > longest:
        raise BadFolder(f"{path} has {max(status.st_size, len(data)):,} bytes; at most {longest:,} are allowed")
    return data


def hash_files(root: Path, folder: str, files: Listing, known: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of every file; `known` has the bytes of files already read. Raises `BadFolder` or `OSError`."""
    found = {}
    for file in files.files:
        data = known.get(file.path)
        data = read_file(root, folder, file.path, LARGEST) if data is None else data
        found[file.path] = sha256(data).hexdigest()
    return found


def folder_digest(found: Mapping[str, str]) -> str:
    """One SHA-256 over the names and hashes of a folder's files."""
    lines = (f"{found[path]} {path}\n" for path in sorted(found))
    return sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
