"""Detects that a file mapped into memory by an engine was truncated.

A process that reads the missing part of a mapped file is killed by the system (SIGBUS), with no error to catch. Engines
write such files once, so one that became shorter is damaged. Checking their bytes is left to `checksums`.
"""

import os
from dataclasses import field
from pathlib import Path

from agent.dataclass import dataclass
from agent.index.files import Damaged


@dataclass(slots=True)
class MappedFiles:
    """The files of one folder whose suffix is in `endings`; `_seen` has the inode and length of each."""

    folder: Path
    endings: tuple[str, ...]
    _seen: dict[str, tuple[int, int]] = field(default_factory=dict)

    def look(self) -> None:
        """Record the current files; call it just before or after they are opened."""
        with os.scandir(self.folder) as found:
            some = [(each.path, each.stat()) for each in found if each.name.endswith(self.endings)]
        self._seen = {path: (stat.st_ino, stat.st_size) for path, stat in some}

    def check(self) -> None:
        """Raise `Damaged` when a file became shorter; a deleted or replaced one stays complete in memory.

        Takes 2 microseconds per file.
        """
        for path, (inode, size) in self._seen.items():
            try:
                stat = os.stat(path)  # noqa: PTH116 - twice as fast as Path.stat, and done at every search
            except OSError:
                continue
            if stat.st_size < size and stat.st_ino == inode:
                raise Damaged("{folder}/{name} was cut short", folder=self.folder.name, name=Path(path).name)
