"""Three file-system calls that Python lacks: exchange two names, rename without overwriting, detect writers.

Linux has `renameat2` and read leases, macOS `renameatx_np`; on other systems callers get False and use a slower way.
"""

import errno
import fcntl
import os
import signal
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

_LINUX_NOREPLACE, _LINUX_EXCHANGE = 1, 2
_MACOS_SWAP, _MACOS_EXCLUSIVE = 2, 4
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


@cache
def _function() -> "ctypes._NamedFuncPointer | None":
    import ctypes  # 2 ms, and most commands change no file

    library = ctypes.CDLL(None, use_errno=True)
    name = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform)
    return getattr(library, name, None) if name else None


def _call(folder: int, old: str, new: str, flag: int) -> bool:
    function = _function()
    if function is None:
        return False
    import ctypes

    if function(folder, os.fsencode(old), folder, os.fsencode(new), ctypes.c_uint(flag)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), new)


def exchange(folder: int, one: str, other: str) -> bool:
    """Swap two names in the folder (a descriptor) atomically; False if the platform cannot."""
    return _call(folder, one, other, _LINUX_EXCHANGE if sys.platform == "linux" else _MACOS_SWAP)


def rename_new(folder: int, old: str, new: str) -> None:
    """Rename inside the folder without overwriting; raises `FileExistsError` if the new name exists."""
    if _call(folder, old, new, _LINUX_NOREPLACE if sys.platform == "linux" else _MACOS_EXCLUSIVE):
        return
    os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    os.unlink(old, dir_fd=folder)


def has_writer(descriptor: int) -> bool | None:
    """True if a process has this file open for writing; None if the system cannot tell.

    The kernel grants a read lease only on a file that no process has open for writing; the lease is given back at once.
    If a process opens the file in between, the kernel's signal is one that is ignored by default.
    """
    if sys.platform != "linux":
        return None
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False
