"""What git reads in the folders of a work tree must be files: at a pipe it waits for ever, and says nothing.

Looking for one costs a walk through every folder, so it is done by `doctor`, and for a command that takes too long.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

_READ_BY_GIT = frozenset((".gitattributes", ".gitignore", ".gitmodules"))
READERS = frozenset(("status", "ls-files", "update-index", "check-attr", "check-ignore", "diff", "add"))
"""The git commands that read those files."""


def pipes(worktree: Path) -> Iterator[Path]:
    """Files that git reads and that are none: pipes, sockets, devices. Links are not followed, by git either."""
    for folder, below, names in os.walk(worktree):
        below[:] = sorted(name for name in below if name != ".git")
        for name in sorted(_READ_BY_GIT.intersection(names)):
            path = Path(folder, name)
            try:
                kind = path.lstat().st_mode
            except OSError:
                continue
            if not stat.S_ISREG(kind) and not stat.S_ISLNK(kind):
                yield path
