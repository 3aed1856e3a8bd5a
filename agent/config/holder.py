"""The holder of a lock: a process, identified across containers and computers.

A process id is valid only in its PID namespace, and until its computer restarts. For a holder from another namespace
or computer the process id does not show if it is alive; the only evidence is the age of its lock.
"""

import os
import sys
from functools import cache
from pathlib import Path

from agent.dataclass import dataclass

_NONE = "-"
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
        return self.boot == other.boot != _NONE

    def shares_processes_with(self, other: "Holder") -> bool:
        """True if a process id means the same process for both."""
        here, there = (self.host, self.namespace), (other.host, other.namespace)
        return self.shares_kernel_with(other) and here == there and self.namespace != _NONE

    def is_gone(self) -> bool:
        """True if this process has ended; valid only if `shares_processes_with` the caller is True."""
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        now = _started(self.process)
        return self.started != now and _NONE not in (self.started, now)


def current() -> Holder:
    """The current process as a holder."""
    process = os.getpid()
    return Holder(_word(os.uname().nodename), *_identity(process), process)


@cache
def _identity(process: int) -> tuple[str, str, str]:
    """Boot, PID namespace and start of the calling process, which never change while it runs."""
    return _boot(), _namespace(), _started(process)


def parse(text: str) -> Holder | None:
    """The holder at the end of a line, as written by `str`; None for other text."""
    words = text.split()[-_FIELDS:]
    if len(words) < _FIELDS or not words[-1].isdigit():
        return None
    host, boot, namespace, started, process = words
    return Holder(host, boot, namespace, started, int(process))


def _word(text: str) -> str:
    return "".join(text.split()) or _NONE


def _boot() -> str:
    if sys.platform == "darwin":
        return _macos_boot()
    return _first_line("/proc/sys/kernel/random/boot_id")


def _macos_boot() -> str:
    import ctypes  # elsewhere a file says it

    size = ctypes.c_size_t(64)
    found = ctypes.create_string_buffer(size.value)
    library = ctypes.CDLL(None)
    failed = library.sysctlbyname(b"kern.bootsessionuuid", found, ctypes.byref(size), None, ctypes.c_size_t(0))
    return _NONE if failed else _word(found.value.decode("ascii", "replace"))


def _namespace() -> str:
    if sys.platform == "darwin":
        return "all"
    try:
        return _word(str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        return _NONE


def _started(process: int) -> str:
    """The start time of a process in ticks since boot: the 22nd field of its `stat`; `-` if not known."""
    line = _first_line(f"/proc/{process}/stat").rpartition(")")[2].split()
    return line[19] if len(line) > 19 else _NONE


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace").partition("\n")[0].strip() or _NONE
    except OSError:
        return _NONE
