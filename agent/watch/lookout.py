"""Fault-tolerant polling of a vault's watcher for the daemon: a failed poll or a missing vault does not stop it.

A failed poll is repeated after increasing pauses, with a full scan. A vault that is missing for an hour is an error.
"""

import logging
from dataclasses import field

from agent.dataclass import dataclass
from agent.errors import NotAVault
from agent.events.types import TurnEnded
from agent.watch.classify import VaultEvent
from agent.watch.compare import Outage
from agent.watch.watcher import Watcher, WatcherState

GONE = 3600.0
"""Seconds for which a vault may be missing: a disk may be unplugged for up to an hour."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Lookout:
    """The polling of one vault's watcher, with its failures."""

    watcher: Watcher
    outage: Outage = field(default_factory=Outage)
    _away_since: float | None = None
    _logged: str = ""

    def changes(self, now: float) -> list[VaultEvent]:
        """The changes since the last poll; empty when it fails (`state().problem` is the reason)."""
        if not self.outage.may_ask(now):
            return []
        if self.outage.problem:
            self.watcher.hints.overflow("looking for changes has failed")
        try:
            events = self.watcher.poll(now)
        except Exception as error:  # any error: a daemon that ended would detect no more changes
            if not self.outage.problem:
                logger.warning("what failed:", exc_info=True)
            self.outage.failed(error, now)
            return []
        self.outage.worked()
        return events

    def paths(self) -> list[str]:
        """All files that are known, notes and others; any thread may ask."""
        return self.watcher.comparison.snapshot.paths()

    def is_away(self, now: float) -> bool:
        """True if the vault is missing now. Raises `NotAVault` when it has been missing for `GONE` seconds."""
        if not self.watcher.is_away:
            self._away_since = None
            return False
        state = self.watcher.state()
        if self._away_since is None:
            self._away_since = now
        elif now - self._away_since >= GONE:
            hint = "start the daemon again when the vault is back"
            raise NotAVault(
                "{problem} (for {minutes:.0f} minutes)", hint=hint, problem=state.problem, minutes=GONE / 60
            )
        return True

    def state(self) -> TurnEnded:
        """The state of the watcher, as the event at the end of a turn."""
        state = self.watcher.state()
        scan = state.last_scan.reason if state.last_scan else None
        failures = self.outage.failures + state.failures
        return TurnEnded(state.hints, state.files, state.waiting, scan, failures, self._problem(state))

    def _problem(self, state: WatcherState) -> str:
        """The current problem of detecting changes, in one line; empty for none. Each new problem is logged once."""
        failed = self.outage.problem
        found = f"cannot look for changes: {failed}" if failed else state.problem
        if found and found != self._logged:
            logger.warning("%s", found)
        elif self._logged and not found:
            logger.info("all changes are seen again")
        self._logged = found
        return found

    def wait(self, now: float, most: float) -> None:
        """Wait until the next poll has something to do, at most `most` seconds."""
        if self.outage.problem:
            self.watcher.hints.take()
            self.watcher.hints.wait(most)
        else:
            self.watcher.wait(now, most)

    def close(self) -> None:
        """Stop watching."""
        self.watcher.close()
