"""Running git processes of a repository, found in the process table.

A lock file contains no process id, and an open commit editor holds no lock, so only the process table shows them.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

CLEAN = "vault-agent/network-"
"""How the name of a temporary repository for a transfer begins, in the repository that it is for."""


def git_is_busy(gitdir: Path, worktree: Path) -> bool:
    """True if a git process works in this repository; if that is unknown, true if any git process is running."""
    return next(git_processes_in(gitdir, worktree), None) is not None


def git_processes_in(gitdir: Path, worktree: Path) -> Iterator[int]:
    """The ids of the git processes that work in this repository; of all of them where that is unknown."""
    if Path("/proc/self/cwd").exists():
        yield from (int(each.name) for each in _git_processes() if _works_here(each, gitdir, worktree))
        return
    listed = subprocess.run(["ps", "-axo", "pid=,comm="], capture_output=True, text=True, check=False)
    rows = (line.split(maxsplit=1) for line in listed.stdout.splitlines())
    yield from (int(row[0]) for row in rows if len(row) == 2 and row[1].rpartition("/")[2].startswith("git"))


def commit_editor_is_open(gitdir: Path, worktree: Path) -> bool:
    """True if a person seems to write a commit message: the message file is newer than the last move of HEAD."""
    try:
        message = (gitdir / "COMMIT_EDITMSG").stat().st_mtime_ns
    except OSError:
        return False
    try:
        moved = (gitdir / "logs" / "HEAD").stat().st_mtime_ns
    except OSError:
        moved = 0
    return message > moved and git_is_busy(gitdir, worktree)


def _git_processes() -> Iterator[Path]:
    own = str(os.getpid())
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or process.name == own:
            continue
        try:
            name = (process / "comm").read_text().strip()
        except OSError:
            continue
        if name == "git" or name.startswith("git-"):
            yield process


def _works_here(process: Path, gitdir: Path, worktree: Path) -> bool:
    try:
        here = (process / "cwd").resolve(strict=True)
        environment, line = (process / "environ").read_bytes(), (process / "cmdline").read_bytes()
    except PermissionError:
        return True
    except OSError:
        return False
    if b"/" + os.fsencode(CLEAN) in environment:  # a transfer: it takes no lock of this repository
        return False
    inside = here.is_relative_to(worktree) or here.is_relative_to(gitdir)
    words = environment + line
    return inside or os.fsencode(gitdir) in words or os.fsencode(worktree) in words
