"""Stopping a process that is at work: a signal asks for it, and what waits or may be cut short ends early.

Waiting (for the writer's lock, for git's, for an editor to be closed) ends because what waits has not begun, or is
taken back in the usual way. The index may be left at any point: the next start finds what it has not taken in.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from agent.clock import Clock
from agent.errors import Retryable
from agent.vault.store import open_vault
from agent.workspace.workspace import Workspace


class Stopped(BaseException):
    """Raised in the middle of work that may be cut short, when its process was asked to stop."""


@dataclass(slots=True)
class StopSignal:
    """Whether this process was asked to stop, and why; `reason` is empty until then."""

    reason: str = ""
    _may_cut: bool = False

    def ask(self, reason: str) -> None:
        """Ask to stop; may be called from a signal handler. Raises `Stopped` inside `cut_short`."""
        self.reason = reason
        if self._may_cut:
            raise Stopped

    def __bool__(self) -> bool:
        return bool(self.reason)

    @contextmanager
    def cut_short(self) -> Iterator[None]:
        """Let `ask` end what is done inside at any point, by `Stopped`."""
        self._may_cut = True
        try:
            if self.reason:
                raise Stopped
            yield
        finally:
            self._may_cut = False


@dataclass(frozen=True, slots=True)
class InterruptibleClock:
    """A clock whose `sleep` raises `Retryable` once the process is to stop."""

    clock: Clock
    stopping: Callable[[], bool]

    def now(self) -> datetime:
        return self.clock.now()

    def monotonic(self) -> float:
        return self.clock.monotonic()

    def sleep(self, seconds: float) -> None:
        if self.stopping():
            raise Retryable("asked to stop", hint="the next start goes on with it")
        self.clock.sleep(seconds)

    def new_id(self) -> str:
        return self.clock.new_id()


def interruptible(workspace: Workspace, stop: StopSignal) -> Workspace:
    """The same workspace, which waits for nothing any more once the process is to stop."""
    clock = InterruptibleClock(workspace.clock, lambda: bool(stop))
    vault = open_vault(workspace.vault.place.root, workspace.directories.state, clock, workspace.vault.options)
    return replace(workspace, clock=clock, vault=vault)
