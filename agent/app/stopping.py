"""Waiting that ends when somebody asks to stop: for the writer's lock, for git's, for an editor to be closed.

What waits has not begun, or is taken back in the usual way, so that nothing is half done: the same as when the
patience is over. How the wish to stop arrives is the daemon's.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from agent.app.build import App
from agent.clock import Clock
from agent.errors import Retryable
from agent.vault.store import open_vault


@dataclass(frozen=True, slots=True)
class Interruptible:
    """A clock for somebody who may be asked to stop: from then on `sleep` raises `Retryable`."""

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


def interruptible(app: App, stopping: Callable[[], bool]) -> App:
    """The same application, which waits for nothing any more once `stopping`."""
    clock = Interruptible(app.clock, stopping)
    vault = open_vault(app.vault.place.root, app.directories.state, clock, app.vault.options)
    return replace(app, clock=clock, vault=vault)
