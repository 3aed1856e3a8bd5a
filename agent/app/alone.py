"""One daemon per vault: the lock that it holds, and what it says of itself to those who ask."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agent.app.build import App
from agent.errors import LockHeld


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Be the vault's only daemon; raises `LockHeld` at once."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            other = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            raise LockHeld(f"this vault has a daemon already (process {other})", hint="vault-agent status") from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def process(lock: Path) -> int | None:
    """The daemon's process, None when none is at work."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or 0)
    finally:
        os.close(descriptor)
    return None


def last_word(app: App) -> Mapping[str, object] | None:
    """What the vault's daemon last said of itself; None when none is at work."""
    if process(app.daemon_lock) is None:
        return None
    try:
        said = json.loads(app.daemon_state.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
