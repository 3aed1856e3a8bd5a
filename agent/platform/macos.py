"""What macOS does in its own way, after its manuals: it was never tried there."""

import errno
import fcntl
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent.platform.posix import UNKNOWN, Posix, c_library, renamed

_SWAP, _EXCLUSIVE = 2, 4
_FULL_FLUSH = 51
"""`F_FULLFSYNC` of `fcntl.h`: `fsync` leaves what was written in the disk's own memory, which a power cut empties."""
_NOT_HERE = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY, errno.ENODEV}
_FRAMEWORKS = "/System/Library/Frameworks/{name}.framework/{name}"


class MacOs(Posix):
    """See `Posix`; `library` loads the C library, or the one of a path."""

    name = "macos"
    has_desktop_bus = False

    def __init__(self, library: Callable[..., Any] = c_library) -> None:
        self._library = library

    def exchange(self, folder: int, one: str, other: str) -> bool:
        return renamed(self._library(), "renameatx_np", folder, one, other, _SWAP)

    def rename_new(self, folder: int, old: str, new: str) -> None:
        if not renamed(self._library(), "renameatx_np", folder, old, new, _EXCLUSIVE):
            super().rename_new(folder, old, new)

    def flush(self, descriptor: int) -> None:
        try:
            fcntl.fcntl(descriptor, _FULL_FLUSH)
        except OSError as error:
            if error.errno not in _NOT_HERE:
                raise
            super().flush(descriptor)  # a folder of a network

    def boot(self) -> str:
        import ctypes

        size = ctypes.c_size_t(64)
        found = ctypes.create_string_buffer(size.value)
        ask = self._library().sysctlbyname
        failed = ask(b"kern.bootsessionuuid", found, ctypes.byref(size), None, ctypes.c_size_t(0))
        return UNKNOWN if failed else "".join(found.value.decode("ascii", "replace").split()) or UNKNOWN

    def namespace(self) -> str:
        return "all"

    def applications(self, home: Path, environ: Mapping[str, str]) -> Path:
        return home / "Library" / "Application Support"

    def managed(self, titled: str, plain: str) -> Path:
        return Path("/Library/Application Support") / titled

    def asks(self, framework: str, function: str) -> bool | None:
        import ctypes

        with suppress(OSError, AttributeError):
            found = getattr(self._library(_FRAMEWORKS.format(name=framework)), function)
            found.restype = ctypes.c_bool
            return bool(found())
        return None
