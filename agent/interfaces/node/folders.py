"""Reads and writes files in the folders that a person has named, opened by descriptor and never through a link.

Below a named folder, no part of a path may be a link, not even one that leads to another place inside, and a file has
one name only: another one (a hard link) may be the file's own place, outside. Vaults, the
folders of git and the program's own folders stay closed in any case: the agent has other tools for notes, and keys and
policies are nobody's to read or write through it.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path

from agent.config.directories import VAULT_FILE
from agent.dataclass import dataclass
from agent.interfaces.node.session import NodeFailure, bad_arguments, did_not_work
from agent.platform.here import platform

MOST_READ = 1 << 20
"""The most bytes that one call reads."""
MOST_LISTED = 1_000
_CLOSED = frozenset({".git", ".obsidian", ".ssh", ".gnupg"})
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that a person has named: as they wrote it, and its real path."""

    written: Path
    real: Path


@dataclass(frozen=True, slots=True)
class Folders:
    """The named folders, and those that stay `closed` wherever they lie."""

    roots: tuple[Root, ...]
    closed: tuple[Path, ...] = ()

    @classmethod
    def named(cls, text: str, closed: tuple[Path, ...] = ()) -> "Folders":
        """The folders of the setting `node.folders`; relative names and missing folders are left out."""
        paths = [Path(each.strip()).expanduser() for each in text.split(":") if each.strip()]
        roots = [Root(each, _real(each)) for each in paths if each.is_absolute() and each.is_dir()]
        return cls(tuple(roots), tuple(map(_real, closed)))

    def read(self, path: str, offset: int) -> tuple[bytes, int]:
        """At most `MOST_READ` bytes of a file from `offset` on, and the size of the whole file."""
        with self._open(path) as (here, name):
            descriptor = self._descriptor(here, name, path)
            with os.fdopen(descriptor, "rb") as file:
                size = os.fstat(descriptor).st_size
                file.seek(offset)
                return file.read(MOST_READ), size

    def list(self, path: str) -> list[str] | None:
        """The names in a folder, those of folders with `/` at the end; None if the path is no folder."""
        with self._open(path) as (here, name):
            try:
                folder = os.open(name, _FOLDER, dir_fd=here)
            except OSError as error:
                if error.errno in {errno.ENOTDIR, errno.ELOOP}:
                    return None
                raise _failure(error, path) from error
            try:
                self._refuse_vault(folder, path)
                with os.scandir(folder) as found:
                    names = [each.name + "/" * each.is_dir(follow_symlinks=False) for each in found]
            finally:
                os.close(folder)
        return sorted(names)

    def write(self, path: str, data: bytes, *, mode: str) -> None:
        """Write a file: `create` refuses one that exists, `replace` puts a new one in its place, `append` adds."""
        with self._open(path) as (here, name):
            try:
                if mode == "append":
                    _append(here, name, data, path)
                elif mode == "create":
                    _put(os.open(name, _made(os.O_EXCL), 0o644, dir_fd=here), data)
                else:
                    _exchange(here, name, data, path)
            except OSError as error:
                raise _failure(error, path) from error

    @contextmanager
    def _open(self, path: str) -> Iterator[tuple[int, str]]:
        """The open folder of a path, and the last part of the path."""
        root, parts = self._inside(path)
        here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts[:-1]:
                try:
                    below = os.open(part, _FOLDER, dir_fd=here)
                except OSError as error:
                    raise _failure(error, path) from error
                os.close(here)
                here = below
                self._refuse_vault(here, path)
            yield here, parts[-1] if parts else "."
        finally:
            os.close(here)

    def _inside(self, wanted: str) -> tuple[Path, tuple[str, ...]]:
        """The named folder that a path lies in, and the parts of the path below it."""
        if not self.roots:
            raise _refused("no folder is open to the node host", "vault-agent config set node.folders ~/FOLDER")
        path = Path(wanted).expanduser()
        if not path.is_absolute() or ".." in path.parts or "\0" in wanted:
            raise bad_arguments(f"{wanted!r} is no whole path", "begin with / or ~, without ..")
        for root in self.roots:
            for spelt in (root.written, root.real):
                if path.is_relative_to(spelt):
                    return root.real, self._open_parts(root.real, path.relative_to(spelt).parts, wanted)
        roots = ", ".join(str(root.written) for root in self.roots)
        raise _refused(f"{wanted} is in none of the folders that are open to the node host: {roots}")

    def _open_parts(self, root: Path, parts: tuple[str, ...], path: str) -> tuple[str, ...]:
        whole = root.joinpath(*parts)
        for each in self.closed:
            if whole == each or each in whole.parents:
                raise _refused(f"{path} is closed: it holds settings or keys of vault-agent")
        for folder in (root, *root.parents):
            if (folder / VAULT_FILE).is_file():
                raise _vault(path)
        if shut := next((part for part in whole.parts if part.casefold() in _CLOSED), ""):
            raise _refused(f"{path} is closed: {shut} is nothing for the node host")
        return parts

    def _refuse_vault(self, here: int, path: str) -> None:
        with suppress(OSError):
            os.stat(VAULT_FILE, dir_fd=here, follow_symlinks=False)
            raise _vault(path)

    def _descriptor(self, here: int, name: str, path: str) -> int:
        try:
            descriptor = os.open(name, _FILE, dir_fd=here)
        except OSError as error:
            raise _failure(error, path) from error
        try:
            _check_file(os.fstat(descriptor), path)
        except NodeFailure:
            os.close(descriptor)
            raise
        return descriptor


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _made(how: int) -> int:
    return os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | how


def _check_file(found: os.stat_result, path: str) -> None:
    """Raise `NodeFailure` unless this is a regular file with one name."""
    if stat.S_ISLNK(found.st_mode):
        raise _linked(path)
    if not stat.S_ISREG(found.st_mode):
        raise bad_arguments(f"{path} is no file")
    if found.st_nlink > 1:
        why = f"{path} has another name (a hard link), which may lie outside of the open folders"
        raise _refused(why, "put a copy in its place: cp FILE COPY, then mv COPY FILE")


def _append(here: int, name: str, data: bytes, path: str) -> None:
    descriptor = os.open(name, _made(os.O_APPEND), 0o644, dir_fd=here)
    try:
        _check_file(os.fstat(descriptor), path)
    except NodeFailure:
        os.close(descriptor)
        raise
    _put(descriptor, data)


def _exchange(here: int, name: str, data: bytes, path: str) -> None:
    """Replace a file at once, with the mode that it had."""
    mode = 0o644
    with suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=here, follow_symlinks=False)
        _check_file(found, path)
        mode = stat.S_IMODE(found.st_mode)
    draft = f".{name[:100]}.{os.getpid()}.{os.urandom(3).hex()}.new"
    descriptor = os.open(draft, _made(os.O_EXCL), mode, dir_fd=here)
    try:
        os.fchmod(descriptor, mode)
        _put(descriptor, data)
        os.rename(draft, name, src_dir_fd=here, dst_dir_fd=here)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=here)
        raise


def _put(descriptor: int, data: bytes) -> None:
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        platform().flush(descriptor)


def _refused(detail: str, hint: str = "") -> NodeFailure:
    return NodeFailure(HTTPStatus.FORBIDDEN, "outside", detail, hint)


def _linked(path: str) -> NodeFailure:
    return _refused(f"{path} goes through a link or a file; links are not followed")


def _vault(path: str) -> NodeFailure:
    return _refused(f"{path} lies in a vault: its notes have tools of their own")


def _failure(error: OSError, path: str) -> NodeFailure:
    match error.errno:
        case errno.ELOOP | errno.ENOTDIR:
            return _linked(path)
        case errno.ENOENT:
            return did_not_work(f"there is no {path}")
        case errno.EEXIST:
            return did_not_work(f"{path} exists", "mode replace or append changes it")
        case errno.EISDIR | errno.EINVAL:
            return bad_arguments(f"{path} is no file")
        case _:
            return did_not_work(f"{path}: {(error.strerror or str(error)).lower()}")
