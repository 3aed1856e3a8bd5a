"""What Linux does that not every system does, also as WSL."""

import errno
import fcntl
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.platform.posix import UNKNOWN, Posix, c_library, renamed

if TYPE_CHECKING:
    import mmap

_NOREPLACE, _EXCHANGE = 1, 2
_ARENA_MAX = -8
"""The number of `M_ARENA_MAX` in glibc's `malloc.h`."""
_OCTAL = re.compile(rb"\\([0-7]{3})")


class Linux(Posix):
    """See `Posix`; `library` loads the C library, `proc` is what the kernel tells of processes."""

    name = "linux"

    def __init__(self, library: Callable[[], Any] = c_library, proc: Path = Path("/proc")) -> None:
        self._library = library
        self._proc = proc

    def exchange(self, folder: int, one: str, other: str) -> bool:
        return renamed(self._library(), "renameat2", folder, one, other, _EXCHANGE)

    def rename_new(self, folder: int, old: str, new: str) -> None:
        if not renamed(self._library(), "renameat2", folder, old, new, _NOREPLACE):
            super().rename_new(folder, old, new)

    def has_writer(self, descriptor: int) -> bool | None:
        """True if a process has this file open for writing.

        The kernel grants a read lease only on a file that no process has open for writing; the lease is given back at
        once. If a process opens the file in between, the kernel's signal is one that is ignored by default.
        """
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError as error:
            return True if error.errno == errno.EAGAIN else None
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return False

    @contextmanager
    def socket_name(self, folder: str, name: str) -> Iterator[str]:
        """As `Posix`; through a descriptor of the folder, which is among the kernel's files."""
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{opened}/{name}"
        finally:
            os.close(opened)

    def mounts(self) -> Mapping[bytes, str] | None:
        try:
            rows = (self._proc / "self/mountinfo").read_bytes().splitlines()
        except OSError:
            return None
        return dict(map(_mount, rows))  # of two in one place, the later one hides the other

    def boot(self) -> str:
        return self._first_line("sys/kernel/random/boot_id")

    def namespace(self) -> str:
        try:
            return "".join(str((self._proc / "self/ns/pid").readlink()).split()) or UNKNOWN
        except OSError:
            return UNKNOWN

    def started(self, process: int) -> str:
        """The start time of a process in ticks since boot: the 22nd field of its `stat`."""
        line = self._first_line(f"{process}/stat").rpartition(")")[2].split()
        return line[19] if len(line) > 19 else UNKNOWN

    def _first_line(self, path: str) -> str:
        try:
            return (self._proc / path).read_text("utf-8", "replace").partition("\n")[0].strip() or UNKNOWN
        except OSError:
            return UNKNOWN

    def processes(self, program: str) -> Sequence[Path] | Sequence[int]:
        if not (self._proc / "self/cwd").exists():
            return super().processes(program)
        own, found = str(os.getpid()), list[Path]()
        for process in self._proc.iterdir():
            if process.name.isdigit() and process.name != own:
                with suppress(OSError):
                    name = (process / "comm").read_text().strip()
                    found += [process] if name == program or name.startswith(f"{program}-") else []
        return found

    def process(self, number: int) -> tuple[int, Sequence[str]] | None:
        folder = self._proc / str(number)
        try:
            line = (folder / "cmdline").read_bytes().split(b"\0")
            parent = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1]
            return int(parent), [part.decode("utf-8", "replace") for part in line if part]
        except (OSError, ValueError, IndexError):
            return None

    def threads(self) -> int:
        count = 0
        with suppress(OSError):
            for entry in os.scandir(self._proc):
                with suppress(OSError):
                    if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                        count += len(os.listdir(f"{entry.path}/task"))  # noqa: PTH208 - counted, not used as paths
        return count

    def limit_file(self, process: int, most: int) -> None:
        import resource  # only a transfer is limited

        with suppress(OSError, ValueError):
            _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
            limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(process, resource.RLIMIT_FSIZE, (limit, hard))

    def use_one_heap(self) -> None:
        self._of_glibc("mallopt", _ARENA_MAX, 1)

    def trim_memory(self) -> None:
        self._of_glibc("malloc_trim", 0)

    def _of_glibc(self, function: str, *numbers: int) -> None:
        with suppress(OSError, AttributeError):  # only glibc has these functions
            getattr(self._library(), function)(*numbers)

    def forget_pages(self, mapped: "mmap.mmap") -> None:
        import mmap

        mapped.madvise(mmap.MADV_DONTNEED)

    def plain_home(self, environ: Mapping[str, str]) -> str:
        home = environ.get("HOME", "")
        return home if home.startswith("/") and "ANDROID_DATA" not in environ else ""


def _mount(row: bytes) -> tuple[bytes, str]:
    """The place and the kind of file system of a row, as `proc_pid_mountinfo(5)` describes it."""
    before, _, after = row.partition(b" - ")
    place = _OCTAL.sub(lambda found: bytes((int(found[1], 8),)), before.split(b" ")[4])
    return place, after.split(b" ", 1)[0].decode("ascii", "replace")
