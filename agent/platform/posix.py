"""What every system of the POSIX family can do, and the most careful answer where only some can."""

import errno
import fcntl
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import mmap

UNKNOWN = "-"
"""What is answered where the system does not tell."""
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class Posix:
    """A system of which nothing more is known."""

    name = "posix"
    has_desktop_bus = True
    """True if notices of the desktop go through D-Bus, and have buttons."""

    # --- files

    def exchange(self, folder: int, one: str, other: str) -> bool:
        """Swap two names in the folder (a descriptor) atomically; False if the system or the file system cannot."""
        return False

    def rename_new(self, folder: int, old: str, new: str) -> None:
        """Rename inside the folder (a descriptor) without overwriting; raises `FileExistsError` if the new name exists.

        Where a file cannot have two names, the new one is first taken by an empty file of ours.
        """
        try:
            os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder))
            os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)
            return
        os.unlink(old, dir_fd=folder)

    def has_writer(self, descriptor: int) -> bool | None:
        """True if a process has this file open for writing; None if the system cannot tell."""
        return None

    def flush(self, descriptor: int) -> None:
        """Have a file or a folder on the disk when this returns; raises `OSError`."""
        os.fsync(descriptor)

    def lock(self, descriptor: int, *, shared: bool = False) -> bool:
        """Lock a file for this process until it is closed, without waiting; False if another process has it locked.

        Raises `OSError` on a file system without locks.
        """
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @contextmanager
    def socket_name(self, folder: str, name: str) -> Iterator[str]:
        """A name short enough for a socket in a folder with a long one: through a link elsewhere, while it is used."""
        import tempfile  # elsewhere the kernel has a short name

        with tempfile.TemporaryDirectory(prefix="va-", dir="/tmp") as place:
            link = Path(place) / "s"
            link.symlink_to(folder)
            yield f"{link}/{name}"

    def mounts(self) -> Mapping[bytes, str] | None:
        """The kind of file system at each place where one is mounted; None if the system does not list them."""
        return None

    # --- processes

    def boot(self) -> str:
        """An id of the start of this computer."""
        return UNKNOWN

    def namespace(self) -> str:
        """An id of the processes that share their numbers with this one."""
        return UNKNOWN

    def started(self, process: int) -> str:
        """When a process was started, in words that no later process of this number has."""
        return UNKNOWN

    def kill_group(self, process: int, number: int = signal.SIGKILL) -> None:
        """Send a signal to a process that leads a session, and to all that it has started there."""
        with suppress(ProcessLookupError, PermissionError):  # gone; or, on macOS, not waited for yet
            os.killpg(process, number)

    def processes(self, program: str) -> Sequence[Path] | Sequence[int]:
        """The running processes of a program or of its parts (`git`, `git-gc`) but for this one: as folders that tell
        more of each (`cwd`, `environ`, `cmdline`), or as numbers."""
        import subprocess  # elsewhere the kernel lists them

        listed = subprocess.run(["ps", "-axo", "pid=,comm="], capture_output=True, text=True, check=False)
        rows = [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
        return [int(row[0]) for row in rows if len(row) == 2 and row[1].rpartition("/")[2].startswith(program)]

    def process(self, number: int) -> tuple[int, Sequence[str]] | None:
        """The process that has started this one, and the words that it runs; None if it is not known."""
        import subprocess

        command = ["ps", "-o", "ppid=,args=", "-p", str(number)]
        try:
            found = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=5, check=True)
            parent, *words = found.stdout.split()
            return int(parent), words
        except (OSError, ValueError, subprocess.SubprocessError):
            return None

    def threads(self) -> int:
        """The number of this user's processes and threads, which a limit counts together; 0 if it is not known."""
        return 0

    def limit(self, limits: Mapping[str, int]) -> None:
        """Limit this process from now on; each limit has the name of its constant in `resource`.

        One that the system does not have, or that is lower already, is left out.
        """
        import resource  # few processes limit themselves

        for name, most in limits.items():
            with suppress(ValueError, OSError, AttributeError):
                resource.setrlimit(getattr(resource, name), (most, most))

    def limit_file(self, process: int, most: int) -> None:
        """Let another process, and what it will start, write no file of more bytes, where the system can do that."""

    # --- memory

    def use_one_heap(self) -> None:
        """Let all threads of this process share a heap from now on, where the C library has such a setting."""

    def trim_memory(self) -> None:
        """Return freed memory to the system, where the C library can."""

    def forget_pages(self, mapped: "mmap.mmap") -> None:
        """Let go of the memory of a mapped file (`mmap.mmap`), where that loses nothing."""

    # --- places

    def plain_home(self, environ: Mapping[str, str]) -> str:
        """The home whose folders are those of the XDG standard; empty where a library has to find them."""
        return ""

    def applications(self, home: Path, environ: Mapping[str, str]) -> Path:
        """The folder in which programs keep their settings."""
        return Path(environ.get("XDG_CONFIG_HOME") or home / ".config")

    def managed(self, titled: str, plain: str) -> Path:
        """The folder in which an administrator lays down the settings of a program, which has a name for each form."""
        return Path("/etc") / plain

    # --- the desktop

    def asks(self, framework: str, function: str) -> bool | None:
        """What a function of the desktop without arguments answers; None if it cannot be asked."""
        return None


@cache
def c_library(path: str | None = None) -> Any:
    """The C library, or the library of a path; raises `OSError`."""
    import ctypes  # 2 ms, and most commands change no file

    return ctypes.CDLL(path, use_errno=True)


def renamed(library: Any, function: str, folder: int, old: str, new: str, flag: int) -> bool:
    """Rename inside the folder (a descriptor) as the flag of this function says; False if it cannot be done here.

    Raises `OSError` for what stands in the way, such as `FileExistsError`.
    """
    import ctypes

    call = getattr(library, function, None)
    if call is None:
        return False
    if call(folder, os.fsencode(old), folder, os.fsencode(new), ctypes.c_uint(flag)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), new)
