"""Keeps the vault in step with its remotes: at the start, when it lies still and there is something to send, now and
then, and at the end.

Noticing is quick and done in the daemon's turn; a round is work for the pool, and never two at once. After a failure it
waits longer with each one, up to a quarter of an hour. What passes by itself, such as being offline, is no news for a
day.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field
from random import random

from agent.background.failures import failure_of, failure_text, log_failed_work
from agent.background.pool import Pool, Priority
from agent.background.sync_notice import SyncNotice
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.types import FilesChanged, Origin, RemoteSynced, Tick
from agent.markdown.changes import NoteChange
from agent.runs.sync_rounds import rounds_with_questions
from agent.texts import Sentence
from agent.vault.folders import QUESTIONS
from agent.vault.store import Vault
from agent.vault.sync.permission import RemotePermission
from agent.vault.sync.round import RoundEnd, RoundReport
from agent.vault.sync.rounds import chosen, rounds
from agent.vault.sync.standing import is_quiet
from agent.vault.sync.state import SyncState, sync_state
from agent.workspace.workspace import Workspace

KEY = "sync"
LOOK = 1.0
"""Seconds between two looks at whether something is to be sent: reading one small file and HEAD."""
FIRST, LONGEST = 30.0, 900.0
"""Seconds of the pause after the first failure, doubled with each, and at most."""
GOODBYE = 3.0
"""Seconds for one transfer when the daemon ends; a round has three at most."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class RemoteSync:
    """The remotes of one vault. `settled` says that all edits by people are committed; `tell` publishes each round that
    moved something."""

    workspace: Workspace
    pool: Pool
    settled: Callable[[], bool]
    tell: Callable[[object], object]
    problem: str = ""
    notice: SyncNotice = field(init=False)
    _head: str = field(default="", init=False)
    _still_from: float = field(default=0.0, init=False)
    _next_at: float = field(default=0.0, init=False)
    _blocked_until: float = field(default=0.0, init=False)
    _look_at: float = field(default=0.0, init=False)
    _failures: int = field(default=0, init=False)
    _running: bool = field(default=False, init=False)
    _error: str = field(default="", init=False)
    """Why the last round could not begin: nothing is then written into the state of a remote."""

    def __post_init__(self) -> None:
        self.notice = SyncNotice(self.workspace, self.tell)

    @property
    def _vault(self) -> Vault:
        return self.workspace.vault

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """Files have changed: what is to be sent waits until they lie still; an answer to a question does not."""
        self._still_from = event.now
        home = self._vault.home
        if any(home.holds(each.path, QUESTIONS) and each.origin is not Origin.OWN for each in event.events):
            self._next_at = self._blocked_until = 0.0

    def tick(self, event: Tick) -> None:
        """Begin a round if one is due."""
        now = event.now
        if now < self._look_at or self._running:
            return
        self._look_at = now + LOOK
        state = sync_state(self._vault)
        self.problem = self._news(state)
        if not state.remotes or state.is_paused or now < self._blocked_until:
            return
        if now >= self._next_at or self._has_news_to_send(state, now):
            self._begin()

    def goodbye(self) -> None:
        """Send what is left when the daemon ends, if the remotes were well; takes some seconds at most."""
        try:
            state = sync_state(self._vault)
            if state.is_paused or self._running or not state.remotes:
                return
            well = [each for each in chosen(self._vault) if not each.trouble and each.wait is None]
            left = [each for each in well if self._vault.head != each.agreed or not self.settled()]
            for report in rounds(self._vault, left, RemotePermission(), seconds=GOODBYE):
                logger.info("sync with %s at the end: %s", report.remote, report.end)
        except (AgentError, OSError) as error:
            logger.info("sync at the end: %s", failure_text(error))

    def _has_news_to_send(self, state: SyncState, now: float) -> bool:
        """True if a remote lacks a commit, and nothing has changed here for a while."""
        head = self._vault.head or ""
        if head != self._head:
            self._head, self._still_from = head, max(self._still_from, now) if self._head else self._still_from
        lacks = any(each.agreed != head and each.wait is None for each in state.remotes.values())
        return lacks and now >= self._still_from + self.workspace.settings.sync.quiet_seconds and self.settled()

    def _begin(self) -> None:
        self._running = True
        future = self.pool.submit(lambda cancelled: self._round(), key=KEY, priority=Priority.NETWORK)
        future.add_done_callback(self._done)

    def _round(self) -> list[RoundReport]:
        """One round with each remote, in the pool."""
        found = []
        for report in rounds_with_questions(self.workspace, chosen(self._vault), is_patient=True):
            found.append(report)
            self._tell(report)
        return found

    def _tell(self, report: RoundReport) -> None:
        received, sent = len(report.received), len(report.sent)
        if received or sent:
            logger.info("sync with %s: %d files received, %d sent", report.remote, received, sent)
            self.tell(RemoteSynced(report.remote, report.received, report.sent))

    def _done(self, future: "Future[list[RoundReport]]") -> None:
        """Plan the next round."""
        now, interval = self.workspace.clock.monotonic(), self.workspace.settings.sync.interval_seconds
        self._next_at, self._look_at = now + interval, now
        error = failure_of(future)
        reports = [] if error is not None or future.cancelled() else future.result()
        self._error = "" if error is None else log_failed_work(logger, "sync", error)
        if error is None and all(each.end is RoundEnd.SYNCED or each.wait is not None for each in reports):
            self._failures, self._blocked_until = 0, 0.0
        else:
            pause = min(FIRST * 2**self._failures, LONGEST)
            self._failures += 1
            self._blocked_until = now + pause * (0.75 + random() / 2)
            self._next_at = min(self._next_at, self._blocked_until)
        self._running = False

    def _news(self, state: SyncState) -> str:
        """What is wrong with the remotes, in one line, and a notice for each; nothing about what may
        pass by itself."""
        now = self.workspace.clock.now()
        wrong = [each for each in state.remotes.values() if not is_quiet(each, now)]
        for each in wrong:
            if each.wait is None and not state.is_paused:  # what waits is asked about in a note of its own
                self.notice.tell(each)
        lines = [Sentence("sync with {name}: {trouble}", name=each.name, trouble=each.trouble) for each in wrong]
        return "; ".join(filter(None, [*lines, self._error]))
