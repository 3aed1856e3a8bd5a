"""The holder of a lock: a process, named so that no other container or computer takes it for one of its own.

A process number means something only in its PID namespace, since the last start of its computer. A holder from
elsewhere is therefore neither alive nor dead by its number: who waits for it can only look at the age of its lock.
"""

import ctypes
import os
import socket
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_NONE = "-"
_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Holder:
    """One process. `boot` names the start of the computer, `started` the process's own; `-` where it is not known."""

    host: str
    boot: str
    namespace: str
    started: str
    process: int

    def __str__(self) -> str:
        """One line of five words, the process last; `parse` reads it back."""
        return f"{self.host} {self.boot} {self.namespace} {self.started} {self.process}"

    def shares_kernel_with(self, other: "Holder") -> bool:
        """Whether both run on one computer since one start, so that both see the locks of one kernel."""
        return self.boot == other.boot != _NONE

    def shares_processes_with(self, other: "Holder") -> bool:
        """Whether a process number means the same to both."""
        here, there = (self.host, self.namespace), (other.host, other.namespace)
        return self.shares_kernel_with(other) and here == there and self.namespace != _NONE

    def is_gone(self) -> bool:
        """Whether this process does not run any more; only for one that shares its processes with the caller."""
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        now = _started(self.process)
        return self.started != now and _NONE not in (self.started, now)


def current() -> Holder:
    """This process."""
    process = os.getpid()
    return Holder(_word(socket.gethostname()), *_identity(process), process)


@cache
def _identity(process: int) -> tuple[str, str, str]:
    """Boot, PID namespace and start of the calling process, which stay the same as long as it lives."""
    return _boot(), _namespace(), _started(process)


def parse(text: str) -> Holder | None:
    """The holder that `str` wrote, at the end of a line; None for anything else."""
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
    """When a process started, in ticks since the computer did: the 22nd field of its `stat`; `-` where not told."""
    line = _first_line(f"/proc/{process}/stat").rpartition(")")[2].split()
    return line[19] if len(line) > 19 else _NONE


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace").partition("\n")[0].strip() or _NONE
    except OSError:
        return _NONE
