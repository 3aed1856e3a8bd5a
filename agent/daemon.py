"""Read first: the daemon watches one vault, publishes what has changed, and ticks.

What follows from a change or a tick is in `app/subscriptions`, the one table of reactions; work that takes long goes on
in the one pool. A signal ends the daemon: what has begun is finished, and what has not is found again by the next
start. A git that fails or a vault that is away does not: it says so, and tries again. The second daemon on a vault is
told so (`LockHeld`).
"""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

from agent.app.background import build_daemon
from agent.app.subscriptions import DaemonParts, subscribe_daemon
from agent.background.pool import Pool
from agent.events.bus import Bus
from agent.events.types import DaemonStarted, DaemonStopped, FilesChanged, Tick
from agent.watch.lookout import Lookout
from agent.watch.recent import Recent
from agent.watch.watcher import Pace
from agent.workspace.daemon_lock import alone
from agent.workspace.interruptible import Stopped, StopSignal, interruptible
from agent.workspace.malloc_trim import give_back
from agent.workspace.search_index import Library, library
from agent.workspace.vault_watcher import watcher
from agent.workspace.workspace import App

STEP = 0.5
"""Seconds between two looks at whether to stop."""
TURN = 0.0005
"""Seconds for which a thread that computes keeps the others waiting, ten times less than Python's own: every file that
is read costs several turns, and 10,000 files beside two such threads took twice as long."""


@dataclass(frozen=True, slots=True)
class Live:
    """A daemon at work: `turn` is one round of it."""

    app: App
    bus: Bus
    index: Library
    pool: Pool
    parts: DaemonParts
    lookout: Lookout

    def turn(self) -> None:
        """Look, publish what has changed, tick, wait for the next thing."""
        now = self.app.clock.monotonic()
        events = self.lookout.changes(now)
        if not self.lookout.is_away(now):
            if events:
                self.bus.publish(FilesChanged(tuple(events), now))
                for event in events:
                    self.bus.publish_async(event)
            self.bus.publish(Tick(now))
        self.bus.publish(self.lookout.state())
        self.lookout.wait(self.app.clock.monotonic(), STEP)


@dataclass(slots=True)
class Daemon:
    """One vault's daemon; `run` returns when it was asked to stop."""

    app: App
    stop: StopSignal = field(default_factory=StopSignal)

    def run(self) -> None:
        """Watch until asked to stop; raises `LockHeld` when another daemon is at work here, `NotAVault` when the vault
        has been away for an hour."""
        with suppress(Stopped), self.live() as live:
            while not self.stop:
                live.turn()

    @contextmanager
    def live(self, index: Library | None = None) -> Iterator[Live]:
        """A daemon that has started, until the end of the block; `index` stands in for the vault's own.

        Settles what a crash left and brings the index up to date first. Raises as `run` does.
        """
        app = interruptible(self.app, self.stop)
        recent = Recent(Pace().keep)
        with alone(app), closing(index or library(app, recent.get)) as index, closing(Bus(app.clock)) as bus:
            pool = Pool(app.clock)
            parts = build_daemon(app, index, bus, pool, recent.get, self.stop.cut_short)
            subscribe_daemon(bus, parts)
            sys.setswitchinterval(TURN)
            parts.state.starting()
            bus.publish(DaemonStarted(str(app.vault.place.root)))
            give_back()
            with closing(Lookout(watcher(app, index.known(), recent))) as lookout:
                lookout.watcher.listen()
                try:
                    yield Live(app, bus, index, pool, parts, lookout)
                finally:
                    pool.close()
                    parts.inbox.close()
                    bus.publish_async(DaemonStopped(self.stop.reason))
