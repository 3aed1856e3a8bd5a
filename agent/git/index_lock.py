"""git's index lock, which all git commands respect, and the running git processes that may hold it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path

from agent.clock import Clock
from agent.config import private
from agent.config.durable import LONGEST, describe_holder, read_start
from agent.config.private import Holder
from agent.errors import LockHeld
from agent.platform.here import platform

CLEAN = "vault-agent/network-"
"""How the name of a temporary repository for a transfer begins, in the repository that it is for."""


def git_is_busy(gitdir: Path, worktree: Path) -> bool:
    """True if a git process works in this repository; if that is unknown, true if any git process is running."""
    return next(git_processes_in(gitdir, worktree), None) is not None


def git_processes_in(gitdir: Path, worktree: Path) -> Iterator[int]:
    """The ids of the git processes that work in this repository; of all of them where that is unknown."""
    for each in platform().processes("git"):
        if isinstance(each, int):
            yield each
        elif _works_here(each, gitdir, worktree):
            yield int(each.name)


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


OURS = b"vault-agent"
STALE_SECONDS = 60.0
"""Age in seconds from which a lock counts as left, if its holder is unknown or is in another PID namespace here."""
FOREIGN_SECONDS = 600.0
"""The same for a lock from another computer, or from before this computer's last start."""
_PAUSE = 0.005


@contextmanager
def index_lock(gitdir: Path, worktree: Path, token: str, clock: Clock, patience: float) -> Iterator[None]:
    """Hold git's index lock; raises `LockHeld` if another program holds it for `patience` seconds.

    Other git commands fail or wait while it is held, so the block must be short, or call `keep_index_lock`.
    """
    lock = gitdir / "index.lock"
    mark = gitdir / f"vault-agent-lock.{token}"
    try:
        with mark.open("wb") as file:  # on a full disk, the file is created but stays empty
            file.write(OURS + f" {token} {private.current()}\n".encode())
            file.flush()
            with suppress(OSError):
                platform().lock(file.fileno())  # visible to all processes of this kernel
            deadline = clock.monotonic() + patience
            while not _try_link(mark, lock):
                if clear_stale(lock, gitdir, worktree, clock, mark):
                    continue
                if clock.monotonic() >= deadline:
                    raise _held(lock)
                clock.sleep(_PAUSE)
            try:
                yield
            finally:
                if _has_token(lock, token):
                    lock.unlink(missing_ok=True)
    finally:
        mark.unlink(missing_ok=True)


def keep_index_lock(gitdir: Path, token: str) -> bool:
    """True if the index lock still has this token; it is then touched, to show that its holder lives."""
    lock = gitdir / "index.lock"
    if not _has_token(lock, token):
        return False
    with suppress(OSError):
        os.utime(lock)
    return True


def _has_token(lock: Path, token: str) -> bool:
    return read_start(lock).startswith(OURS + f" {token} ".encode())


def _held(lock: Path) -> LockHeld:
    content = read_start(lock)
    found = private.parse(content.decode("utf-8", "replace")) if content.startswith(OURS) else None
    if found is None:
        what, hint = "another git command holds the index lock (an open commit editor?)", "finish it, then try again"
        return LockHeld(what, hint=hint)
    return LockHeld(
        "another vault-agent holds the index lock ({holder})",
        hint="try again when it is done; a lock that a crash left there is taken over when it is old enough",
        holder=describe_holder(found),
    )


def _try_link(mark: Path, lock: Path) -> bool:
    try:
        os.link(mark, lock)
    except FileExistsError:
        return False
    return True


class _Kernel(Enum):
    """The state of a lock file in this kernel."""

    LOCKED = 1
    FREE = 2
    UNKNOWN = 3


def clear_stale(lock: Path, gitdir: Path, worktree: Path, clock: Clock, beside: Path | None = None) -> bool:
    """Remove this program's lock if its holder is gone; move aside another's that is 60 s old, if no git runs.

    A holder in another PID namespace, on another computer or from before its last start is judged only by the age of
    its lock. The age is measured with the file system's clock, by touching the caller's file `beside` or a temporary
    file. Returns True if the lock is gone.
    """
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        content, seen = os.read(descriptor, LONGEST), os.fstat(descriptor)
        kernel = _try_flock(descriptor)  # prevents that two processes both remove the same stale lock
        age = _file_time(beside or gitdir / f"vault-agent-lock.{clock.new_id()}", keep=beside is not None)
        age -= seen.st_mtime
        if not content.startswith(OURS):
            return _move_aside(lock, gitdir, worktree, age)
        found = private.parse(content.decode("utf-8", "replace"))
        if not is_left(found, kernel is _Kernel.LOCKED, kernel is _Kernel.FREE, age) or not _is_at(lock, seen):
            return False
        lock.unlink(missing_ok=True)
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def is_left(found: Holder | None, locked: bool, free: bool, age: float) -> bool:
    """True if a crash left this lock of this program. `age` is in seconds since its holder last touched it.

    `locked`: a process of this kernel holds it; `free`: none does; neither is set if the kernel cannot tell.
    """
    if locked:
        return False
    if found is None:
        return age >= STALE_SECONDS
    here = private.current()
    if found.shares_processes_with(here):
        return found.is_gone() or (free and found.process == here.process) or age >= FOREIGN_SECONDS
    return age >= (STALE_SECONDS if free and found.shares_kernel_with(here) else FOREIGN_SECONDS)


def remove_own(lock: Path, token: str) -> None:
    """Remove the index lock of a transaction that, according to the vault's journal, ended by a crash."""
    if _has_token(lock, token):
        lock.unlink(missing_ok=True)


def _move_aside(lock: Path, gitdir: Path, worktree: Path, age: float) -> bool:
    if age < STALE_SECONDS or git_is_busy(gitdir, worktree):
        return False
    set_aside(lock, gitdir)
    return True


def _try_flock(descriptor: int) -> _Kernel:
    try:
        return _Kernel.FREE if platform().lock(descriptor) else _Kernel.LOCKED
    except OSError:
        return _Kernel.UNKNOWN


def _file_time(path: Path, *, keep: bool) -> float:
    """The file system's time in seconds: the clock of a file server may differ from this computer's."""
    try:
        path.touch()
        return path.stat().st_mtime
    finally:
        if not keep:
            path.unlink(missing_ok=True)


def file_time(gitdir: Path, clock: Clock) -> float:
    """The time in seconds of the file system that holds the repository; raises `OSError`."""
    return _file_time(gitdir / f"vault-agent-lock.{clock.new_id()}", keep=False)


def _is_at(lock: Path, seen: os.stat_result) -> bool:
    now = os.lstat(lock)
    return (now.st_dev, now.st_ino) == (seen.st_dev, seen.st_ino)


def set_aside(lock: Path, gitdir: Path) -> None:
    """Rename a stale lock, for a person to look at; it leaves `refs`, where git would read it as a broken branch."""
    name = lock.relative_to(gitdir).as_posix().replace("/", "-")
    lock.replace(gitdir / f"{name}.vault-agent-stale")
