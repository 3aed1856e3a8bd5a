"""Looks at a vault for as long as a daemon lives: a look that fails, or a vault that is away, ends nothing.

A failed look is tried again after longer and longer pauses, and everything is looked at then. A vault that has been
away for an hour is given up.
"""

import logging
from dataclasses import dataclass, field

from agent.errors import NotAVault
from agent.events.types import TurnEnded
from agent.watch.classify import VaultEvent
from agent.watch.outage import Outage
from agent.watch.watcher import Watcher

GONE = 3600.0
"""Seconds for which a vault may be away: a disk that is plugged in again within the hour is not the end."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Lookout:
    """The looks at one vault."""

    watcher: Watcher
    outage: Outage = field(default_factory=Outage)
    _away_since: float | None = None
    _logged: str = ""

    def changes(self, now: float) -> list[VaultEvent]:
        """The changes since the last look; none where it fails, and `problem` says why then."""
        if not self.outage.may_ask(now):
            return []
        if self.outage.problem:
            self.watcher.hints.overflow("looking for changes has failed")
        try:
            events = self.watcher.poll(now)
        except Exception as error:  # whatever it is, a daemon that has ended sees nothing at all
            if not self.outage.problem:
                logger.warning("what failed:", exc_info=True)
            self.outage.failed(error, now)
            return []
        self.outage.worked()
        return events

    def is_away(self, now: float) -> bool:
        """Whether there is no vault to work on now; raises `NotAVault` when it has been away for too long."""
        state = self.watcher.state()
        if not state.away:
            self._away_since = None
            return False
        if self._away_since is None:
            self._away_since = now
        elif now - self._away_since >= GONE:
            hint = "start the daemon again when the vault is back"
            raise NotAVault(f"{state.problem} (for {GONE / 60:.0f} minutes)", hint=hint)
        return True

    def state(self) -> TurnEnded:
        """How the vault is seen now."""
        state = self.watcher.state()
        scan = state.last_scan.reason if state.last_scan else None
        failures = self.outage.failures + state.failures
        return TurnEnded(state.hints, state.files, state.waiting, scan, failures, self._problem())

    def _problem(self) -> str:
        """What is not seen now, in one line; empty for nothing. A change of it is logged once."""
        failed = self.outage.problem
        found = f"cannot look for changes: {failed}" if failed else self.watcher.state().problem
        if found and found != self._logged:
            logger.warning("%s", found)
        elif self._logged and not found:
            logger.info("all changes are seen again")
        self._logged = found
        return found

    def wait(self, now: float, most: float) -> None:
        """Let time pass until there is something to look at, `most` seconds at most."""
        if self.outage.problem:
            self.watcher.hints.take()
            self.watcher.hints.wait(most)
        else:
            self.watcher.wait(now, most)

    def close(self) -> None:
        """Stop looking."""
        self.watcher.close()
