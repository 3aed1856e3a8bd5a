"""Records in the history what people do to files by hand, in their name, when a burst of edits is over."""

import logging
from collections.abc import Callable
from dataclasses import field

from agent.background.failures import log_failure
from agent.background.part import PACE
from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import MassChange, Retryable
from agent.events.types import EditsCommitted, EditsStopped, FilesChanged, Origin
from agent.markdown.changes import NoteChange
from agent.vault.change import Outcome
from agent.vault.listing import VaultListing
from agent.vault.options import HOLDS_UP
from agent.vault.store import Vault

SHORTEST = 0.5
"""Seconds between two tries at least, where the setting asks for less."""
RETRY = 10.0
"""Seconds until the next try after a failure."""
ALONG = 10.0
"""Seconds that a look at all files may come earlier, or later, to be one with the index's."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class HumanEdits:
    """The edits of one vault's people. `tell` publishes each commit, and a stop; `problem` says why nothing could be
    recorded last.

    `quiet` is how many seconds a burst must be over (`git.quiet_seconds`), `scan_seconds` after how many all files are
    looked at in any case; `still_seconds`, if it is more, after how many when none has changed.
    """

    vault: Vault
    clock: Clock
    quiet: float
    scan_seconds: float
    tell: Callable[[object], object]
    problem: str = ""
    still_seconds: float = 0.0
    _due: float | None = field(default=None, init=False)
    _burst_from: float | None = field(default=None, init=False)
    _waits: bool = field(default=False, init=False)
    _look_at: float = field(default=0.0, init=False)
    _clean_at: float | None = field(default=None, init=False)

    @property
    def settled(self) -> bool:
        """True if all edits are committed, except in files that another program keeps open."""
        return self._due is None or (self._burst_from is None and not self._waits)

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """A person has changed files, or git has: wait until the burst is over, but not for ever."""
        self._look_at = min(self._look_at, event.now + self.scan_seconds + ALONG)
        if any(each.origin is not Origin.OWN for each in (*event.events, *event.private)):
            self._clean_at = None
            self._burst_from = event.now if self._burst_from is None else self._burst_from
            longest = self._burst_from + HOLDS_UP * max(self.quiet, SHORTEST)
            self._due = min(event.now + self.quiet, longest)

    def listed(self, listing: VaultListing) -> None:
        """Git has looked at all files, for the index: the next tick need not have it look again if none has changed."""
        now = self.clock.monotonic()
        self._clean_at = now if listing.is_clean else None
        if now >= self._look_at - 2 * ALONG:
            self._look_at = 0.0

    def turn(self, now: float) -> float:
        """Record a burst that is over; look at all files now and then, as a change may have been missed."""
        if now >= self._look_at:
            self._look_at = now + max(self.scan_seconds, self.still_seconds) + ALONG
            self._due = now if self._due is None else self._due
        if self._due is not None and now >= self._due:
            self._burst_from = None
            is_clean = self._clean_at is not None and now < self._clean_at + ALONG
            self._clean_at = None
            pause = self._record(is_clean=is_clean)
            self._due = None if pause is None else now + pause
        return PACE if self._due is None else self._due - now

    def _record(self, *, is_clean: bool) -> float | None:
        """Commit what there is to commit; returns the seconds until the next try, None if there is nothing left.

        `is_clean`: no file of a person's has changed, so that only what a crash or a queue has left is done.
        """
        soon = max(self.quiet, SHORTEST)
        try:
            if self.vault.options.human_commits and not is_clean:
                outcome = self.vault.commit_human(quiet=True)
            else:
                self.vault.settle()
                outcome = Outcome(queued=self.vault.waiting_reason() if is_clean else None)
        except Retryable as error:
            logger.info("not committed yet: %s", error.message)
            return soon
        except Exception as error:  # a daemon that has ended records nothing
            logger.debug("commit:", exc_info=True)
            before, self.problem = self.problem, log_failure(logger, "commit", error, self.problem)
            if isinstance(error, MassChange) and self.problem != before:
                self.tell(EditsStopped(tuple(self.vault.private_notes.left_of(error.paths))))
            return RETRY
        self.problem = ""
        if outcome.human:
            self.tell(EditsCommitted(outcome.human, tuple(outcome.paths)))
        self._waits = outcome.fresh or outcome.queued is not None or self.vault.queued > 0
        return soon if self._waits or outcome.open else None
