"""A lock among processes and threads: the operating system's file lock, which ends with its process.

The callers choose the file, the timeout and the error message.
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
    """Hold a lock file, creating it if missing; yields its descriptor, or None when it is still held elsewhere after
    `patience` seconds. Raises `OSError` when the file cannot be used."""
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
    """True if a lock file is held now; takes a shared lock for a moment, which other callers can take too."""
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
