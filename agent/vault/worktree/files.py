"""A vault's files, opened by descriptor from the root down, never through a link and never outside the vault.

Reads wait until no process is writing. Writes go to a flushed temporary file beside the target, which one system call
puts in place without losing the replaced bytes. `apply` chooses the content.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import BadPath, NoteExists, Retryable
from agent.git.object_ids import FILE, LINK, PROGRAM
from agent.lazy import later
from agent.platform.here import platform
from agent.vault.worktree.paths import check, check_inside

if TYPE_CHECKING:
    from agent.vault.worktree.attributes import copy_attributes
else:
    copy_attributes = later("agent.vault.worktree.attributes", "copy_attributes")

SETTLE_SECONDS = 2.0
PART = ".part"
"""The end of a temporary file's name while it is being written; after a crash such a file can be deleted."""
_PAUSE = 0.002
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Files:
    """The files under `root`. `durable`: every file and folder is flushed before a write counts as done."""

    root: Path
    clock: Clock
    durable: bool = True

    @contextmanager
    def folder(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The open folder of `path` and its last name; raises `BadPath` if a link or a file is in the way.

        Raises `FileNotFoundError` if a folder is missing and `make` is not set.
        """
        *parts, name = path.split("/")
        here = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts:
                here = self._descend(here, part, path, make)
            self._check_inside(here, len(parts), path)
            yield here, name
        finally:
            os.close(here)

    def _descend(self, here: int, part: str, path: str, make: bool) -> int:
        if make:
            try:
                os.mkdir(part, dir_fd=here)
                self._flush(here)
            except FileExistsError:
                pass
        try:
            below = os.open(part, _FOLDER, dir_fd=here)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                raise BadPath(
                    "{path} goes through {part}, which is a link or a file",
                    hint="links are not followed",
                    path=path,
                    part=part,
                ) from error
            raise
        os.close(here)
        return below

    def _check_inside(self, here: int, depth: int, path: str) -> None:
        """Raise `BadPath` if the folder `depth` levels up is not the root: the folder was then moved away."""
        top = os.stat(self.root)
        up = os.stat("/".join([".."] * depth) or ".", dir_fd=here)
        if (up.st_dev, up.st_ino) != (top.st_dev, top.st_ino):
            raise BadPath("{path} is no longer inside the vault", path=path)

    def read(self, path: str) -> bytes | None:
        """The file's settled bytes, None if there is no file; raises `BadPath` for links and special files."""
        check_inside(path)
        try:
            with self.folder(path) as (here, name):
                return self.settled(here, name, path)
        except FileNotFoundError:
            return None

    def read_at_most(self, path: str, most: int) -> bytes | None:
        """The first `most` bytes of a file at this moment, None if there is none; raises `BadPath` as `read` does."""
        check_inside(path, system=False)
        try:
            with self.folder(path) as (here, name), open(_open_regular(here, name, path), "rb") as file:
                return file.read(most)
        except FileNotFoundError:
            return None

    def read_any(self, path: str) -> tuple[str, bytes] | None:
        """Any file as git would store it: (git mode, bytes), a link as its target; None for other things."""
        return self._as_git(path, self.settled)

    def read_now(self, path: str, patience: float = 0.0) -> tuple[str, bytes] | None:
        """The same as `read_any`; after `patience` seconds the bytes of this moment, even if a program writes."""

        def momentary(here: int, name: str, path: str) -> bytes:
            try:
                return self.settled(here, name, path, patience)
            except Retryable:
                with open(_open_regular(here, name, path), "rb") as file:
                    return file.read()

        return self._as_git(path, momentary)

    def is_open_elsewhere(self, path: str) -> bool:
        """True if another program has the file open for writing; raises `OSError` if it cannot be read."""
        try:
            with self.folder(path) as (here, name):
                if not stat.S_ISREG(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
                    return False
                with open(_open_regular(here, name, path), "rb") as file:
                    return platform().has_writer(file.fileno()) is True
        except FileNotFoundError:
            return False

    def _as_git(self, path: str, read: Callable[[int, str, str], bytes]) -> tuple[str, bytes] | None:
        try:
            with self.folder(path) as (here, name):
                status = os.stat(name, dir_fd=here, follow_symlinks=False)
                if stat.S_ISLNK(status.st_mode):
                    return LINK, os.fsencode(os.readlink(name, dir_fd=here))
                if not stat.S_ISREG(status.st_mode):
                    return None
                return PROGRAM if status.st_mode & 0o100 else FILE, read(here, name, path)
        except FileNotFoundError:
            return None

    def settled(self, here: int, name: str, path: str, patience: float = SETTLE_SECONDS) -> bytes:
        """The file's bytes once no process has it open for writing.

        Raises `Retryable` if a process keeps it open for longer than `patience` seconds.
        """
        deadline = self.clock.monotonic() + patience
        while True:
            descriptor = _open_regular(here, name, path)
            with open(descriptor, "rb") as file:
                before = os.fstat(descriptor)
                busy = platform().has_writer(descriptor)
                if not busy:
                    data = file.read()
                    after = os.fstat(descriptor)
                    if _stamp(before) == _stamp(after) and not platform().has_writer(descriptor):
                        return data
            if self.clock.monotonic() >= deadline:
                raise Retryable(
                    "another program keeps {path} open for writing", hint="save it there, then try again", path=path
                )
            self.clock.sleep(_PAUSE)

    def mode(self, path: str) -> int | None:
        """The file's permission bits, None if there is no file."""
        try:
            with self.folder(path) as (here, name):
                return stat.S_IMODE(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return None

    def stage(self, path: str, temporary: str, data: bytes, mode: int | None) -> None:
        """Write `data` under the temporary name beside `path`, flushed; missing folders are created. A file that is not
        there yet, which may come from a remote, needs a name that any system can have."""
        if os.path.lexists(self.root / path):
            check_inside(path)
        else:
            check(path, system=True, arrives=True)
        with self.folder(path, make=True) as (here, _):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            part = temporary + PART
            descriptor = os.open(part, flags, 0o666 if mode is None else mode & 0o600, dir_fd=here)
            try:
                with open(descriptor, "wb") as file:
                    if mode is not None:
                        os.fchmod(descriptor, mode)
                    file.write(data)
                    file.flush()
                    if self.durable:
                        platform().flush(descriptor)
                platform().rename_new(here, part, temporary)
            except OSError:
                os.unlink(part, dir_fd=here)
                raise

    def inherit(self, path: str, temporary: str, source: str) -> None:
        """Copy the owner, mode and extended attributes of the file `source` to the temporary file beside `path`."""
        try:
            with self.folder(source) as (there, old), self.folder(path) as (here, _):
                copy_attributes(there, old, here, temporary)
        except FileNotFoundError:
            return

    def publish(self, path: str, temporary: str) -> None:
        """Rename the temporary file to `path`; raises `NoteExists` if there is a file already."""
        with self.folder(path) as (here, name):
            try:
                platform().rename_new(here, temporary, name)
            except FileExistsError as error:
                raise NoteExists("{path} exists already", hint="choose another name, or edit it", path=path) from error

    def trade(self, path: str, temporary: str) -> None:
        """Exchange the file with the temporary one, which then has the replaced bytes; raises `FileNotFoundError`.

        Owner, mode and extended attributes stay with the name.
        """
        with self.folder(path) as (here, name):
            _refuse_link(here, name, path)
            copy_attributes(here, name, here, temporary)
            if platform().exchange(here, temporary, name):
                return
            aside = temporary + ".out"
            os.rename(name, aside, src_dir_fd=here, dst_dir_fd=here)
            platform().rename_new(here, temporary, name)
            os.rename(aside, temporary, src_dir_fd=here, dst_dir_fd=here)

    def take(self, path: str, temporary: str) -> None:
        """Rename the file to the temporary name; raises `FileNotFoundError`."""
        with self.folder(path) as (here, name):
            _refuse_link(here, name, path)
            platform().rename_new(here, name, temporary)

    def beside(self, path: str, temporary: str) -> bytes | None:
        """The settled bytes of the temporary file beside `path`; None if there is no such file."""
        try:
            with self.folder(path) as (here, _):
                return self.settled(here, temporary, path)
        except FileNotFoundError:
            return None

    def temporaries(self, path: str, temporary: str) -> dict[str, bytes]:
        """The settled bytes of the temporary files of one change beside `path`, sorted by name.

        They are called `temporary`, or `temporary`, a dot and more: a change's number may be the start of another's.
        """
        try:
            with self.folder(path) as (here, _):
                names = sorted(name for name in os.listdir(here) if f"{name}.".startswith(f"{temporary}."))
                return {name: self.settled(here, name, path) for name in names}
        except FileNotFoundError:
            return {}

    def discard(self, path: str, temporary: str) -> None:
        """Remove a temporary file if it exists."""
        try:
            with self.folder(path) as (here, _):
                os.unlink(temporary, dir_fd=here)
        except FileNotFoundError:
            return

    def flush(self, path: str) -> None:
        """Flush the folder of `path`, so that new names in it survive a crash."""
        try:
            with self.folder(path) as (here, _):
                self._flush(here)
        except FileNotFoundError:
            return

    def prune(self, path: str) -> None:
        """Remove the folders of `path` that are empty now, innermost first."""
        folder = path.rpartition("/")[0]
        while folder:
            try:
                with self.folder(folder) as (here, name):
                    os.rmdir(name, dir_fd=here)
            except OSError:
                return
            folder = folder.rpartition("/")[0]

    def _flush(self, here: int) -> None:
        if self.durable:
            platform().flush(here)


def _open_regular(here: int, name: str, path: str) -> int:
    try:
        descriptor = os.open(name, _FILE, dir_fd=here)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadPath("{path} is a link", hint="links are not followed", path=path) from error
        if error.errno in {errno.ENOTDIR, errno.ENXIO}:
            raise BadPath("{path} is not a file", hint="name a note", path=path) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadPath("{path} is not a file", hint="name a note", path=path)
    return descriptor


def _refuse_link(here: int, name: str, path: str) -> None:
    if not stat.S_ISREG(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
        raise BadPath("{path} is a link or not a file", hint="links are not followed", path=path)


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ino
