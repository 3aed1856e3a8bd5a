"""Two kinds of lock: a process lock among ourselves, and git's own index lock among everybody.

A process lock is the operating system's, and its file says which process holds it. The index lock is a file that
git's commands respect; ours says so inside, so that a lock we left behind is told from a person's.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.clock import Clock
from agent.config.lock import hold, is_held
from agent.errors import LockHeld
from agent.vault.plumbing.neighbours import git_is_busy

OURS = b"vault-agent"
STALE_SECONDS = 60.0
_PAUSE = 0.005


@contextmanager
def process_lock(path: Path, clock: Clock, patience: float, taken: str) -> Iterator[None]:
    """Hold a lock file; raises `LockHeld` after `patience` seconds, saying `taken` and which process has it."""
    with hold(path, clock, patience) as held:
        if held is None:
            raise LockHeld(f"{taken} (process {_named(path) or 'unknown'})", hint="vault-agent status")
        os.ftruncate(held, 0)
        os.pwrite(held, str(os.getpid()).encode(), 0)
        yield


def holder(path: Path) -> int | None:
    """The process that holds a lock file now (0: one that does not say), None when nobody does."""
    return _named(path) if is_held(path) else None


def _named(path: Path) -> int:
    try:
        text = path.read_bytes()[:32].decode("ascii", "replace").strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0


@contextmanager
def index_lock(gitdir: Path, worktree: Path, token: str, clock: Clock, patience: float) -> Iterator[None]:
    """Hold git's index lock; raises `LockHeld` after `patience` seconds of somebody else holding it.

    Other git commands fail or wait while it is held, so what happens inside must be short.
    """
    lock = gitdir / "index.lock"
    mark = gitdir / f"vault-agent-lock.{token}"
    try:
        mark.write_bytes(
            OURS + f" {token} {os.getpid()}\n".encode()
        )  # on a full disk, the file is made and stays empty
        deadline = clock.monotonic() + patience
        while not _try_link(mark, lock):
            if clear_stale(lock, gitdir, worktree, clock):
                continue
            if clock.monotonic() >= deadline:
                raise LockHeld(
                    "another git command holds the index lock (an open commit editor?)",
                    hint="finish it, then try again",
                )
            clock.sleep(_PAUSE)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
    finally:
        mark.unlink(missing_ok=True)


def _try_link(mark: Path, lock: Path) -> bool:
    try:
        os.link(mark, lock)
    except FileExistsError:
        return False
    return True


def clear_stale(lock: Path, gitdir: Path, worktree: Path, clock: Clock) -> bool:
    """Remove a dead lock of ours; move aside one of another's that is 60 s old, with no git alive here.

    Ours is dead when its process is gone, or after 60 s, since no process of ours holds it for one.
    """
    try:
        content = lock.read_bytes()[:200]
        age = clock.now().timestamp() - lock.stat().st_mtime
    except OSError:
        return False
    if content.startswith(OURS):
        if age < STALE_SECONDS and _is_alive(content.split()[-1]):
            return False
        lock.unlink(missing_ok=True)
        return True
    if age < STALE_SECONDS or git_is_busy(gitdir, worktree):
        return False
    set_aside(lock, gitdir)
    return True


def _is_alive(process: bytes) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return int(process) != os.getpid()


def set_aside(lock: Path, gitdir: Path) -> None:
    """Rename a dead lock so that a person can still look at it; under `refs` git would take it for a broken branch."""
    name = lock.relative_to(gitdir).as_posix().replace("/", "-")
    lock.replace(gitdir / f"{name}.vault-agent-stale")
