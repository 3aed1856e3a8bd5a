"""Copies what a file has beside its bytes: owner, mode, extended attributes, access list."""

import os
import stat
from contextlib import suppress

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ACCESS_LIST = "system.posix_acl_access"


def copy_attributes(old_folder: int, old: str, new_folder: int, new: str) -> None:
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
    wanted, found = os.fstat(source), os.fstat(target)
    mode = stat.S_IMODE(wanted.st_mode)
    owned = (wanted.st_uid, wanted.st_gid) == (found.st_uid, found.st_gid)
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
        wanted, found = os.listxattr(source), os.listxattr(target)
    except OSError:
        return
    for name in wanted:
        with suppress(OSError):
            value = os.getxattr(source, name)
            if name not in found or os.getxattr(target, name) != value:
                os.setxattr(target, name, value)
    if _ACCESS_LIST in found and _ACCESS_LIST not in wanted:
        with suppress(OSError):
            os.removexattr(target, _ACCESS_LIST)
