"""Private files and folders, readable by their owner only; locks that are such files, and who holds one."""

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.platform.here import platform
from agent.platform.posix import UNKNOWN

FOLDER, FILE = 0o700, 0o600
_OTHERS = 0o077


def make_folder(path: Path) -> None:
    """Create a folder, and missing ones above it, for its owner only. An existing folder keeps its mode."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(FOLDER, exist_ok=True)
    path.chmod(FOLDER)  # a umask can only remove permissions


def own_folder(path: Path) -> None:
    """As `make_folder`; also remove group's and others' access to an existing folder. A folder of another owner stays
    as it is."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode) and mode & _OTHERS:
            path.chmod(FOLDER)
    except FileNotFoundError:
        make_folder(path)
    except OSError:
        return


def own_files(folder: Path) -> None:
    """Remove group's and others' access to the files directly in a folder, which a library has written."""
    with os.scandir(folder) as found:
        for each in found:
            if each.is_file(follow_symlinks=False) and each.stat(follow_symlinks=False).st_mode & _OTHERS:
                os.chmod(each.path, FILE)  # noqa: PTH101 - an entry has its path as text


def touch(path: Path) -> None:
    """Create an empty private file, if missing, for a library to write to; raises `UserError` as `check_file` does."""
    check_file(path)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE))


def check_file(path: Path) -> None:
    """Raise `UserError` if something stands at a path, or where a link leads, that is neither a file nor a folder.

    Whoever may write a device, such as root, would put a file in the place of `/dev/null`, or write into a disk.
    """
    try:
        mode = path.stat().st_mode
    except OSError:  # nothing there, or nothing that a write would reach
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UserError(
            "{path} is a device, a pipe or a socket, and is not written to",
            hint="put a file there, or remove it: ls -l {path}",
            path=path,
        )


def clear_way(path: Path) -> None:
    """Rename a folder at the path of one of the program's files to a name that ends in `.damaged`; raises `UserError`
    as `check_file` does."""
    check_file(path)
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(3).hex()}.damaged"))


def write(path: Path, data: bytes) -> None:
    """Write a file in place; after a crash it may be incomplete. Raises `UserError` as `check_file` does."""
    check_file(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def replace(path: Path, text: str) -> None:
    """Replace a file atomically, without syncing to disk. Characters that UTF-8 cannot encode are written as `?`."""
    replace_bytes(path, text.encode("utf-8", "replace"))


def replace_bytes(path: Path, data: bytes) -> None:
    """Replace a file atomically, without syncing to disk."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    write(draft, data)
    clear_way(path)
    draft.replace(path)


_PAUSE = 0.005


@contextmanager
def hold(path: Path, clock: Clock, patience: float) -> Iterator[int | None]:
    """Hold a lock file, creating it if missing; yields its descriptor, or None when it is still held elsewhere after
    `patience` seconds. Raises `OSError` when the file cannot be used."""
    clear_way(path)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = clock.monotonic() + patience
        while not platform().lock(descriptor):
            if clock.monotonic() >= deadline:
                yield None
                return
            clock.sleep(_PAUSE)
        yield descriptor
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """True if a lock file is held now; takes a shared lock for a moment, which other callers can take too."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not platform().lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Holder:
    """One process. `boot` identifies the start of the computer, `started` that of the process; `-` if not known."""

    host: str
    boot: str
    namespace: str
    started: str
    process: int

    def __str__(self) -> str:
        """One line of five words, the process id last; the inverse of `parse`."""
        return f"{self.host} {self.boot} {self.namespace} {self.started} {self.process}"

    def shares_kernel_with(self, other: "Holder") -> bool:
        """True if both run on one computer since the same start, so that both see the same kernel's locks."""
        return self.boot == other.boot != UNKNOWN

    def shares_processes_with(self, other: "Holder") -> bool:
        """True if a process id means the same process for both."""
        here, there = (self.host, self.namespace), (other.host, other.namespace)
        return self.shares_kernel_with(other) and here == there and self.namespace != UNKNOWN

    def is_gone(self) -> bool:
        """True if this process has ended; valid only if `shares_processes_with` the caller is True."""
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        now = platform().started(self.process)
        return self.started != now and UNKNOWN not in (self.started, now)


def current() -> Holder:
    """The current process as a holder."""
    process = os.getpid()
    return Holder(_word(os.uname().nodename), *_identity(process), process)


@cache
def _identity(process: int) -> tuple[str, str, str]:
    """Boot, PID namespace and start of the calling process, which never change while it runs."""
    here = platform()
    return here.boot(), here.namespace(), here.started(process)


def parse(text: str) -> Holder | None:
    """The holder at the end of a line, as written by `str`; None for other text."""
    words = text.split()[-_FIELDS:]
    if len(words) < _FIELDS or not words[-1].isdigit():
        return None
    host, boot, namespace, started, process = words
    return Holder(host, boot, namespace, started, int(process))


def _word(text: str) -> str:
    return "".join(text.split()) or UNKNOWN
