"""Read first: the daemon watches one vault, publishes what has changed, and ticks.

What follows from a change or a tick is in the table of `app/background`; work that takes long goes on
in the one pool. A signal ends the daemon: what has begun is finished, and what has not is found again by the next
start. A git that fails or a vault that is away does not: it says so, and tries again. The second daemon on a vault is
told so (`LockHeld`).
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import field
from functools import partial

from agent.app.background import DaemonParts, build_daemon
from agent.background.index_sync import MANY
from agent.background.leftovers import Leftovers
from agent.background.pool import Pool
from agent.clock import rate_of
from agent.dataclass import dataclass
from agent.events.bus import Bus
from agent.events.types import DaemonStarted, DaemonStopped, Tick
from agent.index.embedder import EmbedderChoice
from agent.index.model_files import forget_unasked, is_any_held
from agent.index.update import Progress, ignore_progress
from agent.index.words_met import forget_words_met
from agent.memory.understanding.rules import forget_wordings
from agent.prefetch import Prefetch
from agent.skills.reading.patterns import forget_one_pass
from agent.watch.lookout import Lookout
from agent.watch.snapshot import Recent
from agent.watch.watcher import Pace
from agent.workspace.interruptible import Stopped, StopSignal, interruptible
from agent.workspace.process_memory import give_back_memory, trim_memory, use_one_heap
from agent.workspace.search_index import SearchIndex, open_index
from agent.workspace.vault_watcher import files_changed, watch_vault
from agent.workspace.workspace import Workspace, daemon_lock

STEP = 0.5
"""Seconds between two looks at whether to stop, and at what is due."""
REST = 2.0
"""The same when nothing has gone on for `CALM` seconds: a change of a file ends the wait at once, and so does the
request to stop."""
CALM = 30.0
TURN = 0.0005
"""Seconds for which a thread that computes keeps the others waiting, ten times less than Python's own: every file that
is read costs several turns, and 10,000 files beside two such threads took twice as long."""


@dataclass(frozen=True, slots=True)
class Live:
    """A daemon at work: `turn` is one round of it."""

    workspace: Workspace
    bus: Bus
    index: SearchIndex
    pool: Pool
    parts: DaemonParts
    lookout: Lookout

    def turn(self, most: float = STEP) -> None:
        """Look, publish what has changed, tick, wait for the next thing, at most so many seconds."""
        self.look()
        self.wait(most)

    def look(self) -> bool:
        """Publish what has changed, and tick; True if anything goes on here."""
        now = self.workspace.clock.monotonic()
        events = self.lookout.changes(now)
        if not self.lookout.is_away(now):
            if events:
                changed = files_changed(self.workspace.vault, events, now)
                self.bus.publish(changed)
                for event in changed.events:
                    self.bus.publish_async(event)
            self.bus.publish(Tick(now))
        state = self.lookout.state()
        self.bus.publish(state)
        work = self.pool.state
        return bool(events or state.waiting or state.problem or work.running or work.waiting)

    def wait(self, most: float) -> None:
        """Wait for the next thing, at most so many seconds."""
        self.lookout.wait(self.workspace.clock.monotonic(), most)


def _after_work() -> None:
    """Keep nothing that was only of use to the work that is over."""
    forget_wordings()
    forget_one_pass()
    give_back_memory()


def _give_back(recent: Recent) -> None:
    recent.rest()
    forget_words_met()
    trim_memory()


def _give_back_unasked() -> None:
    forget_unasked()
    give_back_memory()


def do_nothing() -> None:
    """Do nothing; for a daemon that needs nothing more once it has started."""


def no_doors(live: Live) -> AbstractContextManager[object]:
    """A daemon that nobody can reach but through the vault."""
    return nullcontext()


@dataclass(slots=True)
class Daemon:
    """One vault's daemon; `run` returns when it was asked to stop. `doors` is open while it is at work."""

    workspace: Workspace
    stop: StopSignal = field(default_factory=StopSignal)
    doors: Callable[[Live], AbstractContextManager[object]] = no_doors
    indexed: Progress = ignore_progress
    """Is told how far the first update of the index has come."""
    meanwhile: Callable[[], object] = do_nothing
    """Is done in a thread while git looks at all files: what is needed only once the daemon has started."""

    def run(self, watching: Callable[[], object] = lambda: None) -> None:
        """Watch until asked to stop; `watching` is called once every later change will be seen.

        Raises `LockHeld` when another daemon is at work here, `NotAVault` when the vault has been away for an hour.
        """
        with suppress(Stopped), self.live() as live, self.doors(live):
            watching()
            calm_from = live.workspace.clock.monotonic() + CALM
            rest = max(STEP, REST / rate_of(live.workspace.clock))
            while not self.stop:
                is_busy = live.look()
                now = live.workspace.clock.monotonic()
                calm_from = now + CALM if is_busy else calm_from
                with self.stop.cut_short():
                    live.wait(STEP if is_busy or now < calm_from else rest)

    @contextmanager
    def live(self, chosen: EmbedderChoice | None = None) -> Iterator[Live]:
        """A daemon that has started, until the end of the block; `chosen` in place of the configured embedder.

        Settles what a crash left and brings the index up to date first. Raises as `run` does.
        """
        use_one_heap()
        workspace = interruptible(self.workspace, self.stop)
        recent = Recent(Pace().keep)
        with (
            daemon_lock(workspace),
            closing(open_index(workspace, recent.get, chosen, elsewhere=MANY)) as index,
            closing(Bus(workspace.vault.clock)) as bus,
        ):
            index.updater.progress = self.indexed
            pool = Pool(workspace.clock, idle=_after_work)

            def is_lagging() -> bool:
                return lookout.state().waiting > 0

            give_back = partial(_give_back, recent)
            leftovers = Leftovers(workspace.clock, is_lagging, give_back, _give_back_unasked, is_any_held)
            parts = build_daemon(workspace, index, bus, pool, recent.get, self.stop.cut_short, leftovers)
            parts.table.subscribe(bus)
            sys.setswitchinterval(TURN)
            parts.state.starting()
            with closing(Lookout(watch_vault(workspace, {}, recent))) as lookout:
                lookout.watcher.listen()
                lookout.watcher.look(workspace.clock.monotonic())
                Prefetch(self.meanwhile)
                bus.publish(DaemonStarted(str(workspace.vault.place.root)))
                index.updater.progress = ignore_progress
                lookout.watcher.know(index.known(), parts.index.doubtful)
                trim_memory()
                try:
                    yield Live(workspace, bus, index, pool, parts, lookout)
                finally:
                    pool.close()
                    parts.close()
                    bus.publish_async(DaemonStopped(self.stop.reason))
