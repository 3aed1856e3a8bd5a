"""A lock among processes and threads: the operating system's own on a file, so that it dies with its holder.

The files, how long is waited and what is said to whoever comes too late are left to those who have something to guard.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.clock import Clock
from agent.config.private import clear_way

_PAUSE = 0.005


@contextmanager
def hold(path: Path, clock: Clock, patience: float) -> Iterator[int | None]:
    """Hold a lock file, which is made if it is missing: its descriptor, None when after `patience` seconds somebody
    else still holds it. Raises `OSError` where the file cannot be used."""
    clear_way(path)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = clock.monotonic() + patience
        while not _try_lock(descriptor, fcntl.LOCK_EX):
            if clock.monotonic() >= deadline:
                yield None
                return
            clock.sleep(_PAUSE)
        yield descriptor
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether somebody holds a lock file now; who asks holds it for a moment, beside others who ask."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _try_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
