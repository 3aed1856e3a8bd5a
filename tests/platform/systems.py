"""Systems that this machine is not, made of what it can do: their C libraries are fakes, the files are real."""

import ctypes
import errno
from collections.abc import Callable

import pytest

from agent.platform import here
from agent.platform.linux import Linux
from agent.platform.macos import MacOs
from agent.platform.posix import Posix, c_library

_OF_LINUX = {2: 2, 4: 1}
"""The flags of macOS's call for a renaming, as those of Linux."""


class MacLibrary:
    """What of macOS's C library is asked for; `answer` is that of its desktop, None if there is none."""

    def __init__(self, answer: bool | None = None) -> None:
        if answer is not None:
            self.CGPreflightScreenCaptureAccess = self.AXIsProcessTrusted = _Function(answer)

    def renameatx_np(self, folder: int, old: bytes, there: int, new: bytes, flag: ctypes.c_uint) -> int:
        return int(c_library().renameat2(folder, old, there, new, ctypes.c_uint(_OF_LINUX[flag.value])))

    def sysctlbyname(self, name: bytes, found: "ctypes.Array[ctypes.c_char]", *rest: object) -> int:
        found.value = b"B00T-0F A MAC" if name == b"kern.bootsessionuuid" else b""
        return 0


class _Function:
    """A function of a framework."""

    restype: object = None

    def __init__(self, answer: bool) -> None:
        self._answer = answer

    def __call__(self) -> bool:
        return self._answer


class WindowsDisk:
    """Linux's C library on a file system of another system: it knows no flag of a renaming."""

    def renameat2(self, *arguments: object) -> int:
        ctypes.set_errno(errno.EINVAL)
        return -1


SYSTEMS: dict[str, Callable[[], Posix]] = {
    "Linux": Linux,
    "macOS": lambda: MacOs(lambda path=None: MacLibrary()),
    "Linux on a disk of Windows": lambda: Linux(lambda: WindowsDisk()),
    "another": Posix,
}


def on(monkeypatch: pytest.MonkeyPatch, system: Posix) -> Posix:
    """Let the program run on a system."""
    monkeypatch.setattr(here, "_here", system)
    return system


def a_mac(monkeypatch: pytest.MonkeyPatch, answer: bool | None = None) -> Posix:
    """Let the program run on macOS, whose desktop gives this answer."""
    return on(monkeypatch, MacOs(lambda path=None: MacLibrary(answer)))
