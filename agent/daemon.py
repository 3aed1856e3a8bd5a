"""Read first: the daemon watches one vault, keeps its index in step, commits what people did by hand, and is quiet.

It polls when the watcher says that there is something to do, and sleeps otherwise. A signal ends it: what has begun is
finished, and what has not is found again by the next start. A git that fails or a vault that is away does not: it says
so, and tries again. Runs whose person has decided, those that people ask for in notes, and its chores go on in threads
of its own.
The second daemon on a vault is told so (`LockHeld`).
"""

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

from agent.app.alone import alone
from agent.app.build import App
from agent.app.chores import Chores
from agent.app.heap import give_back
from agent.app.inbox import Inbox
from agent.app.library import Library, library
from agent.app.resumption import Resumption
from agent.app.stopping import interruptible
from agent.app.watching import watcher
from agent.config.private import replace
from agent.errors import NotAVault
from agent.events.types import DaemonStarted, DaemonStopped, Origin
from agent.reactions import Reactions
from agent.vault.options import HOLDS_UP
from agent.watch.classify import VaultEvent
from agent.watch.outage import Outage
from agent.watch.watcher import Watcher

STEP = 0.5
"""Seconds between two looks at whether to stop."""
TURN = 0.0005
"""Seconds for which a thread that computes keeps the others waiting, ten times less than Python's own: every file that
is read costs several turns, and 10,000 files beside two such threads took twice as long."""
RETRY = 10.0
"""Seconds until the index is tried again after an update of it has failed."""
MANY = 250
"""Changes in one turn that make a burst large: what it took is given back."""
GONE = 3600.0
"""Seconds for which a vault may be away: a disk that is plugged in again within the hour is not the end."""

logger = logging.getLogger(__name__)


class Stopped(BaseException):
    """Asked to stop while the index was being updated, which may take long and be cut short at any point."""


@dataclass(slots=True)
class Daemon:
    """One vault's daemon; `run` returns when it was asked to stop."""

    app: App
    stopping: str = ""
    runs: Resumption = field(init=False)
    inbox: Inbox = field(init=False)
    chores: Chores = field(init=False)
    _indexing: bool = field(default=False, init=False)
    _look_at: float = field(default=0.0, init=False)
    _quiet_at: float | None = field(default=None, init=False)
    _burst_from: float | None = field(default=None, init=False)
    _away_since: float | None = field(default=None, init=False)
    _large: bool = field(default=False, init=False)
    _sight: Outage = field(default_factory=Outage, init=False)
    _said: str = field(default="", init=False)
    _shown: dict[str, object] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.inbox = Inbox(self.app, lambda: self.runs.busy)
        self.runs = Resumption(self.app, told=self.inbox.take_in, others=lambda: self.inbox.busy)
        self.chores = Chores(self.app, lambda: self.runs.busy + self.inbox.busy)

    def stop(self, reason: str) -> None:
        """Ask it to stop; may be called from a signal handler."""
        self.stopping = reason
        if self._indexing:
            raise Stopped

    def run(self) -> None:
        """Watch until asked to stop; raises `LockHeld` when another daemon is at work here, `NotAVault` when the vault
        has been away for an hour."""
        self.app = interruptible(self.app, lambda: bool(self.stopping))
        with alone(self.app), closing(library(self.app)) as index, closing(self.app.bus()) as bus:
            reactions = Reactions(
                self.app.vault, index.refresh, index.touch, index.is_broken, bus, index.close, self.chores.recorded
            )
            try:
                eyes = self.start(reactions, index)
            except Stopped:
                return
            with closing(eyes), closing(self.chores), closing(self.inbox), closing(self.runs):
                bus.publish_async(DaemonStarted(str(self.app.vault.place.root)))
                with suppress(Stopped):
                    while not self.stopping:
                        self.step(eyes, reactions)
            bus.publish_async(DaemonStopped(self.stopping))

    def start(self, reactions: Reactions, index: Library) -> Watcher:
        """Settle what a crash left, bring the index up to date, begin to watch."""
        sys.setswitchinterval(TURN)
        self._show({"starting": True})
        reactions.to_crash()
        with self._cut_short():
            reactions.to_start()
        self.runs.begin()
        self.inbox.begin()
        give_back()
        eyes = watcher(self.app, index.known())
        eyes.listen()
        index.held = self.inbox.held = eyes.comparison.recent.get
        self._quiet_at = self.app.clock.monotonic()
        self.chores.begin(self._quiet_at)
        self._look_at = self._quiet_at + self.app.settings.watch.scan_seconds
        return eyes

    def step(self, eyes: Watcher, reactions: Reactions) -> None:
        """One turn: take in changes, record a burst that is over, wait for the next thing."""
        now = self.app.clock.monotonic()
        events = self._look(eyes, now)
        if not self._is_away(eyes, now):
            self._react(events, now, reactions)
            self._tend(now, reactions)
            self._rest(eyes, reactions)
        self._tell(eyes, reactions)
        if self._sight.problem:
            eyes.hints.take()
            eyes.hints.wait(STEP)
        else:
            eyes.wait(self.app.clock.monotonic(), STEP)

    def _look(self, eyes: Watcher, now: float) -> list[VaultEvent]:
        """What has changed. When looking fails the daemon goes on, and compares the whole index with the notes soon."""
        if not self._sight.may_ask(now):
            return []
        if self._sight.problem:
            eyes.hints.overflow("looking for changes has failed")
        try:
            events = eyes.poll(now)
        except Exception as error:  # whatever it is, a daemon that has ended sees nothing at all
            if not self._sight.problem:
                logger.warning("what failed:", exc_info=True)
            self._sight.failed(error, now)
            self._look_at = min(self._look_at, now + RETRY)
            return []
        self._sight.worked()
        return events

    def _is_away(self, eyes: Watcher, now: float) -> bool:
        """Whether there is no vault to work on now; raises `NotAVault` when it has been away for too long."""
        state = eyes.state()
        if not state.away:
            self._away_since = None
            return False
        if self._away_since is None:
            self._away_since = now
        elif now - self._away_since >= GONE:
            hint = "start the daemon again when the vault is back"
            raise NotAVault(f"{state.problem} (for {GONE / 60:.0f} minutes)", hint=hint)
        return True

    def _react(self, events: list[VaultEvent], now: float, reactions: Reactions) -> None:
        quiet = self.app.settings.git.quiet_seconds
        if events:
            with self._cut_short():
                reactions.to_changes(events)
            self.runs.notice(event.path for event in events)
            self.inbox.notice(events, now)
            self.chores.notice(events, now)
            if len(events) >= MANY:
                self._large = True
                give_back()
            if any(event.origin is not Origin.OWN for event in events):
                self._burst_from = now if self._burst_from is None else self._burst_from
                self._quiet_at = min(now + quiet, self._burst_from + HOLDS_UP * max(quiet, STEP))
        if self._quiet_at is not None and now >= self._quiet_at:
            self._burst_from = None
            self._quiet_at = now + max(quiet, STEP) if reactions.to_quiet() else None
        self.runs.step(now)
        self.inbox.step(now)
        self.chores.step(now, settled=self._quiet_at is None or (self._burst_from is None and reactions.settled))

    def _tend(self, now: float, reactions: Reactions) -> None:
        """Compare the whole index with the notes: at once when it is broken, soon after a failed update, and as often
        as the watcher looks at all files, since some of what decides (such as `.gitignore`) is no note."""
        if "index" in reactions.problem:
            self._look_at = min(self._look_at, now + RETRY)
        elif reactions.is_broken():
            self._look_at = now
        if now >= self._look_at:
            with self._cut_short():
                report = reactions.to_start()
            self._large = self._large or (report is not None and report.indexed >= MANY)
            give_back()
            self._look_at = self.app.clock.monotonic() + self.app.settings.watch.scan_seconds
            self._quiet_at = now if self._quiet_at is None else self._quiet_at

    def _rest(self, eyes: Watcher, reactions: Reactions) -> None:
        """After a large burst, let go of what it took."""
        if self._large and not eyes.state().waiting:
            self._large = False
            reactions.let_go()
            give_back()

    @contextmanager
    def _cut_short(self) -> Iterator[None]:
        """Let `stop` end this at any point: what the index has not taken in is found again by the next start."""
        self._indexing = True
        try:
            if self.stopping:
                raise Stopped
            yield
        finally:
            self._indexing = False

    def _tell(self, eyes: Watcher, reactions: Reactions) -> None:
        """How it goes, for `status`; what is not seen, in the log too, once."""
        seen = eyes.state()
        unseen = f"cannot look for changes: {self._sight.problem}" if self._sight.problem else seen.problem
        if unseen and unseen != self._said:
            logger.warning("%s", unseen)
        elif self._said and not unseen:
            logger.info("all changes are seen again")
        self._said = unseen
        at_work = (self.runs.problem, self.inbox.problem, self.chores.problem)
        said = dict.fromkeys(filter(None, [unseen, *at_work, *reactions.problem.values()]))
        self._show(
            {
                "hints": seen.hints,
                "files": seen.files,
                "waiting": seen.waiting,
                "last_scan": seen.last_scan.reason if seen.last_scan else None,
                "index": reactions.problem.get("index"),
                "runs": self.runs.busy + self.inbox.busy,
                "failures": self._sight.failures + seen.failures,
                "problem": self.app.vault.masked("; ".join(said)),
            }
        )

    def _show(self, state: dict[str, object]) -> None:
        """Leave word for `status` of how it goes, when that has changed."""
        if state == self._shown:
            return
        try:
            replace(self.app.daemon_state, json.dumps({"pid": os.getpid(), **state}))
        except OSError as error:  # a full disk; `status` has the last word that could be written
            logger.info("cannot leave word for status: %s", error)
        self._shown = state
