"""Which file systems report every change of a file to the kernel that watches it.

Folders of a network, of another system beneath this one and of programs (FUSE) may change without a word, and so may a
disk that is carried to another machine. Of what is not known the same is assumed.
"""

import os
import re
from pathlib import Path

_OWN = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "jfs", "reiserfs", "nilfs2", "tmpfs")
)
"""Linux's file systems for the disks that stay in a machine."""
_MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(rb"\\([0-7]{3})")


def reports_all_changes(root: Path, mounts: Path = _MOUNTS) -> bool:
    """True if the folder and all below it are on file systems of which every change is reported; `mounts` is Linux's
    list of what is mounted where."""
    try:
        rows = mounts.read_bytes().splitlines()
    except OSError:
        return False
    kinds = dict(map(_mount, rows))  # of two in one place, the later one hides the other
    place = os.fsencode(os.path.realpath(root))
    above = max((path for path in kinds if _is_below(place, path)), key=len, default=b"")
    return {kinds.get(above, ""), *(kind for path, kind in kinds.items() if _is_below(path, place))} <= _OWN


def _mount(row: bytes) -> tuple[bytes, str]:
    """The place and the kind of file system of a row, as `proc_pid_mountinfo(5)` describes it."""
    before, _, after = row.partition(b" - ")
    place = _OCTAL.sub(lambda found: bytes((int(found[1], 8),)), before.split(b" ")[4])
    return place, after.split(b" ", 1)[0].decode("ascii", "replace")


def _is_below(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
