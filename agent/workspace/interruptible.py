"""Stop of a working process by a signal: waits, and work that may be interrupted, end early.

A wait (for the writer's lock, for git's lock, for an editor to close) can end safely: the work after it has not begun,
or is rolled back in the usual way. It gets `GRACE` seconds first: a run that stops waits, too, to write down in its
session where it was. An index update can end at any point: the next start finds what is not indexed yet.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from math import inf

from agent.clock import Clock, in_machine_seconds, time_on_clock
from agent.dataclass import dataclass
from agent.errors import Stopping
from agent.vault.store import open_vault
from agent.workspace.workspace import Workspace

GRACE = 2.0
"""Seconds for which waits may still go on after the stop; half of the pool's patience for a run."""


class Stopped(BaseException):
    """Raised in the middle of interruptible work when its process was asked to stop."""


@dataclass(slots=True)
class StopSignal:
    """The request to stop this process; `reason` is empty until it is made."""

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
        """Let `ask` end the work inside at any point, by raising `Stopped`."""
        self._may_cut = True
        try:
            if self.reason:
                raise Stopped
            yield
        finally:
            self._may_cut = False


@dataclass(slots=True)
class InterruptibleClock:
    """A clock whose `sleep` raises `Stopping` once the process was asked to stop and has waited for `GRACE` seconds."""

    clock: Clock
    stopping: Callable[[], bool]
    _until: float = inf

    def now(self) -> datetime:
        return self.clock.now()

    def monotonic(self) -> float:
        return self.clock.monotonic()

    def sleep(self, seconds: float) -> None:
        if self.stopping():
            now = in_machine_seconds(self.clock).monotonic()
            self._until = min(self._until, now + GRACE)
            if now >= self._until:
                raise Stopping("asked to stop", hint="the next start goes on with it")
        self.clock.sleep(seconds)

    def new_id(self) -> str:
        return self.clock.new_id()

    def time_at(self, seconds: float) -> float:
        return time_on_clock(self.clock, seconds)

    def in_machine_seconds(self) -> Clock:
        return replace(self, clock=in_machine_seconds(self.clock))


def interruptible(workspace: Workspace, stop: StopSignal) -> Workspace:
    """The same workspace, in which no wait lasts once the process was asked to stop."""
    clock, patient = (InterruptibleClock(each, lambda: bool(stop)) for each in (workspace.clock, workspace.vault.clock))
    vault = open_vault(workspace.vault.place.root, workspace.directories.state, patient, workspace.vault.options)
    return replace(workspace, clock=clock, vault=vault)
