"""Which file systems report every change of a file to the kernel that watches it.

Folders of a network, of another system beneath this one and of programs (FUSE) may change without a word, and so may a
disk that is carried to another machine. Of what is not known the same is assumed.
"""

import os
from pathlib import Path

from agent.platform.here import platform

_OWN = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "jfs", "reiserfs", "nilfs2", "tmpfs")
)
"""Linux's file systems for the disks that stay in a machine."""


def reports_all_changes(root: Path) -> bool:
    """True if the folder and all below it are on file systems of which every change is reported."""
    kinds = platform().mounts() or {}
    place = os.fsencode(os.path.realpath(root))
    above = max((path for path in kinds if _is_below(place, path)), key=len, default=b"")
    return {kinds.get(above, ""), *(kind for path, kind in kinds.items() if _is_below(path, place))} <= _OWN


def _is_below(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
