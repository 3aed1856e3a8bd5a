"""A lock between processes of this program: a file with an operating-system lock and its holder's name.

git's own index lock is in `plumbing`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.clock import Clock
from agent.config import holder as holders
from agent.config.holder import Holder
from agent.config.private import hold, is_held
from agent.errors import LockHeld
from agent.texts import Sentence

LONGEST = 1000
"""Maximum number of bytes read from a lock file."""


@contextmanager
def process_lock(path: Path, clock: Clock, patience: float, taken: str) -> Iterator[None]:
    """Hold a lock file; raises `LockHeld` after `patience` seconds, with `taken` and the holder as its message."""
    with hold(path, clock, patience) as held:
        if held is None:
            raise LockHeld("{taken} ({holder})", hint="vault-agent status", taken=Sentence(taken), holder=_named(path))
        os.ftruncate(held, 0)
        os.pwrite(held, str(holders.current()).encode(), 0)
        yield


def holder(path: Path) -> int | None:
    """The id of the process that holds a lock file now; 0 if it is not recorded, None if the lock is free."""
    if not is_held(path):
        return None
    found = holders.parse(read_start(path).decode("utf-8", "replace"))
    return found.process if found else 0


def _named(path: Path) -> Sentence:
    found = holders.parse(read_start(path).decode("utf-8", "replace"))
    return Sentence("process unknown") if found is None else describe_holder(found)


def describe_holder(found: Holder) -> Sentence:
    """The process in words, with its host or container if the process id is not of this system."""
    here = holders.current()
    if found.shares_processes_with(here):
        return Sentence("process {process}", process=found.process)
    if found.shares_kernel_with(here):
        return Sentence("process {process} in another container", process=found.process)
    return Sentence("process {process} on {host}", process=found.process, host=found.host)


def read_start(path: Path) -> bytes:
    """The first bytes of a lock file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(LONGEST)
    except OSError:
        return b""
