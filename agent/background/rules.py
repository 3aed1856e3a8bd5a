"""The work on rules in the background: what the person did with them, what their uses say, and what is learned anew.

Noticing is quick and done in the daemon's turn; the work is one job of the pool, begun once the vault has lain still.
It learns from reflections only when some have changed: that compares many texts, and may ask a model.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field

from agent.background.failures import failure_of, log_failed_work
from agent.background.pool import Pool, Priority
from agent.dataclass import dataclass
from agent.errors import Interrupted
from agent.events.runs import ProposalDecided, TaskCompleted
from agent.events.types import DaemonStarted, EditsCommitted, FilesChanged, NoteMoved, Origin, Tick
from agent.growth.rules.rule_work import RuleWork
from agent.growth.rules.tend import follow_rules, tend_rules
from agent.llm.provider import Cancelled
from agent.markdown.changes import NoteChange
from agent.runs.growth_spend import is_of_growth
from agent.vault.folders import REFLECTIONS, RULES, SESSIONS
from agent.workspace.workspace import Workspace, reload_settings

KEY = "rules"
STILL = 5.0
"""Seconds without a change before anything is begun."""
PATIENCE = 20.0
"""Seconds that work which has begun gets when the daemon stops: each part of it is one commit or nothing."""
RETRY = 600.0
"""Seconds until work that has failed is tried again."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class RuleUpkeep:
    """The rules of one vault's daemon. `settled` says whether what people did by hand is recorded; `open_work` gives
    what the work needs now, with a check whether to stop."""

    workspace: Workspace
    pool: Pool
    settled: Callable[[], bool]
    open_work: Callable[[Cancelled], RuleWork]
    problem: str = ""
    _is_wanted: bool = field(default=False, init=False)
    _learns: bool = field(default=False, init=False)
    _begin_at: float = field(default=0.0, init=False)

    def start(self, event: DaemonStarted) -> None:
        """Look for what was done while nobody watched."""
        self._want(learns=True)

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """Files have changed: rules by hand, new reflections, or boxes in the notes of runs."""
        home = self.workspace.vault.home
        for each in event.events:
            paths = (each.path, each.source) if isinstance(each, NoteMoved) else (each.path,)
            if any(home.holds(path, REFLECTIONS) for path in paths):
                self._want(learns=True)
            elif each.origin is not Origin.OWN and any(home.holds(path, RULES, SESSIONS) for path in paths):
                self._want()

    def edits_committed(self, event: EditsCommitted) -> None:
        """A person's edits are in the history: they may be corrections of what runs wrote."""
        self._want()

    def decided(self, event: ProposalDecided) -> None:
        """The person has answered a question about a rule: the next one may be asked."""
        if event.kind == "rule":
            self._want(learns=True)

    def run_ended(self, event: TaskCompleted) -> None:
        """A run has ended: it may have been a use."""
        if not is_of_growth(event.job):
            self._want()

    def tick(self, event: Tick) -> None:
        """Submit the work when it is due, and what people did by hand is recorded."""
        if not self._is_wanted or event.now < self._begin_at or self.pool.has(KEY) or not self.settled():
            return
        learns, self._is_wanted, self._learns = self._learns, False, False
        future = self.pool.submit(
            lambda cancelled: self._attend(learns, cancelled), key=KEY, priority=Priority.MAINTENANCE, patience=PATIENCE
        )
        future.add_done_callback(lambda done: self._over(learns, done))

    def _attend(self, learns: bool, cancelled: Cancelled) -> None:
        if not reload_settings(self.workspace).settings.growth.enabled:
            return
        work = self.open_work(cancelled)
        rows = tend_rules(work) if learns else follow_rules(work)
        for row in rows:
            logger.info("rule %s: %s (%s)", row.path or row.words, row.event, row.why)

    def _want(self, *, learns: bool = False) -> None:
        self._is_wanted = True
        self._learns = self._learns or learns
        self._begin_at = self.workspace.clock.monotonic() + STILL

    def _over(self, learned: bool, future: "Future[None]") -> None:
        error = failure_of(future)
        if error is None or isinstance(error, Interrupted):
            self.problem = ""
            return
        self.problem = log_failed_work(logger, "rules", error)
        self._want(learns=learned)
        self._begin_at = self.workspace.clock.monotonic() + RETRY
