"""File-system calls that Python lacks: exchange two names, rename without overwriting, copy attributes."""

import errno
import fcntl
import os
import signal
import stat
import sys
from contextlib import suppress
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


_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ACCESS_LIST = "system.posix_acl_access"


def copy(old_folder: int, old: str, new_folder: int, new: str) -> None:
    """Copy the attributes of the file `old` to the file `new`; both are names in folders given as descriptors.

    Raises `FileNotFoundError` if one of them is missing. Attributes that the system refuses are left out.
    """
    source = os.open(old, _FILE, dir_fd=old_folder)
    try:
        target = os.open(new, _FILE, dir_fd=new_folder)
        try:
            _copy(source, target)
        finally:
            os.close(target)
    finally:
        os.close(source)


def _copy(source: int, target: int) -> None:
    wanted, given = os.fstat(source), os.fstat(target)
    mode = stat.S_IMODE(wanted.st_mode)
    owned = (wanted.st_uid, wanted.st_gid) == (given.st_uid, given.st_gid)
    if not owned:
        mode = _own(target, wanted, mode)
    _copy_extended(source, target)
    if stat.S_IMODE(os.fstat(target).st_mode) != mode:
        os.fchmod(target, mode)


def _own(target: int, wanted: os.stat_result, mode: int) -> int:
    """Set a file's owner and group as far as permitted; returns the mode that it may then have.

    With another group, the group gets at most the rights of all users, and the set-user and set-group bits are removed.
    """
    try:
        os.fchown(target, wanted.st_uid, wanted.st_gid)
        return mode
    except OSError:
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
    try:
        os.fchown(target, -1, wanted.st_gid)
        return mode
    except OSError:
        return mode & ~0o070 | (mode & 0o007) << 3 & mode


def _copy_extended(source: int, target: int) -> None:
    """Copy the extended attributes, with the access list; remove an access list that came only from the new folder."""
    if not hasattr(os, "listxattr"):
        return
    try:
        wanted, given = os.listxattr(source), os.listxattr(target)
    except OSError:
        return
    for name in wanted:
        with suppress(OSError):
            value = os.getxattr(source, name)
            if name not in given or os.getxattr(target, name) != value:
                os.setxattr(target, name, value)
    if _ACCESS_LIST in given and _ACCESS_LIST not in wanted:
        with suppress(OSError):
            os.removexattr(target, _ACCESS_LIST)
