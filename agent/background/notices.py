"""Brings notices to the person: takes in what is raised, decides by the rules of attention, and sends what may be sent.

Noticing is quick and done in the daemon's turn; channels are slow, and so are work for the pool. While nothing waits, a
turn costs one look at the size of a file. Other processes raise notices by noting them: the same look finds them.
"""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import field
from datetime import datetime

from agent.attention.outbox import Outbox
from agent.background.failures import failure_of, log_failed_work, log_failure
from agent.background.part import PACE
from agent.background.pool import Pool, Priority
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.notices import NoticeRaised
from agent.events.types import FilesChanged
from agent.llm.messages import Cancelled
from agent.markdown.changes import NoteChange
from agent.vault.folders import APPROVALS, QUESTIONS
from agent.workspace.workspace import Workspace

KEY, SENDING = "notices", "notices: sending"
"""The pool's keys of the work on notices: deciding, and sending, which a channel may hold up."""
PATIENCE = 4.0
"""Seconds that a channel gets when the daemon stops; what is not proved by then is sent again, and says so."""
LOOK = 60.0
"""Seconds until what waits is looked at again though nothing is known to have changed: a setting may have."""
ASKED = 60.0
"""Seconds until a question of the agent is worth a notice: at a terminal it is answered by then."""
AGAIN = 15.0
"""Seconds until the ledger is tried again after a failure."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Notices:
    """The notices of one vault. `waiting` returns notices about decisions that wait for the person, except about the
    notes that it is given."""

    workspace: Workspace
    pool: Pool
    open: Callable[[], Outbox]
    waiting: Callable[[set[str]], Iterable[NoticeRaised]]
    problem: str = ""
    _outbox: Outbox | None = field(default=None, init=False)
    _mark: int | None = field(default=None, init=False)
    _looks: tuple[tuple[datetime, float], ...] = field(default=(), init=False)
    _look_at: float = field(default=0.0, init=False)
    _pause_until: float = field(default=0.0, init=False)
    _asked_at: float | None = field(default=None, init=False)

    def start(self, _: object) -> None:
        """Look at what a daemon before this one has left."""
        self._asked_at = self.workspace.clock.monotonic()

    def raised(self, event: NoticeRaised) -> None:
        """Decide about a notice, and note it."""
        try:
            self._box().take(event)
        except (AgentError, OSError) as error:
            self.problem = log_failure(logger, "notices", error, self.problem)

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """A question of the agent may wait."""
        home = self.workspace.vault.home
        for each in event.events:
            if home.holds(each.path, APPROVALS, QUESTIONS):
                self._asked_at = event.now + ASKED if self._asked_at is None else self._asked_at

    def turn(self, now: float) -> float:
        """Have done what is due."""
        if now < self._pause_until:
            return self._pause_until - now
        try:
            outbox = self._box()
            if outbox.mark != self._mark or (self._looks and now >= self._look_at):
                self._mark, self._look_at = outbox.mark, now + LOOK
                self._looks = outbox.looks()
            is_asked = self._asked_at is not None and now >= self._asked_at
            if (is_asked or outbox.is_due(self._looks)) and not self.pool.has(KEY):
                future = self.pool.submit(self._tend, key=KEY, priority=Priority.NETWORK)
                future.add_done_callback(self._over)
        except (AgentError, OSError) as error:
            self.problem = log_failure(logger, "notices", error, self.problem)
            self._pause_until = now + AGAIN
        return 0.0 if self.pool.has(KEY) or self.pool.has(SENDING) else PACE

    def _tend(self, cancelled: Cancelled) -> None:
        """Note questions, decide about what was held, and have it sent; in a thread of the pool."""
        outbox = self._box()
        if self._asked_at is not None and self.workspace.clock.monotonic() >= self._asked_at:
            self._asked_at = None
            for notice in self.waiting({each.raised.decides for each in outbox.ledger.all()}):
                outbox.take(notice)
        outbox.review()
        if not self.pool.has(SENDING):  # else it sees by itself what else is to be sent
            future = self.pool.submit(self._send, key=SENDING, priority=Priority.NETWORK, patience=PATIENCE)
            future.add_done_callback(self._over)

    def _send(self, cancelled: Cancelled) -> None:
        """Send what is due, in a thread of the pool."""
        self._box().deliver(cancelled)

    def _over(self, future: "Future[None]") -> None:
        """The work is over: look anew."""
        error = failure_of(future)
        if error is not None:
            self._pause_until = self.workspace.clock.monotonic() + AGAIN
        self.problem = self._undelivered() if error is None else log_failed_work(logger, "notices", error)
        self._mark = None

    def _undelivered(self) -> str:
        """The problem of delivery that lasts for a while, in one line; empty if nothing waits for a channel."""
        waiting = [each.problem for each in self._box().undelivered() if each.problem]
        return waiting[0] if waiting else ""

    def _box(self) -> Outbox:
        if self._outbox is None:
            self._outbox = self.open()
        return self._outbox
