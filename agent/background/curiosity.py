"""Takes in the answers to questions that no run waits for, closes those that are over, and has the agent ask at most
one thing by itself, if the settings want that: work for the pool, when a question was changed and every ten minutes."""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from agent.background.failures import log_failed_work
from agent.background.pool import Pool, Priority
from agent.events.types import FilesChanged, Tick
from agent.growth.curiosity.look import look
from agent.llm.provider import Cancelled
from agent.markdown.changes import NoteChange
from agent.vault.folders import QUESTIONS
from agent.workspace.workspace import Workspace, reload_settings

KEY = "curiosity"
LOOK = 600.0
"""Seconds between two looks."""
PATIENCE = 20.0
"""Seconds that a look which has begun gets when the daemon stops: it is at most two commits."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Curiosity:
    """The curiosity of one vault's daemon. `settled` says whether what people did by hand is recorded; `publish` is
    told what was answered."""

    workspace: Workspace
    pool: Pool
    settled: Callable[[], bool]
    publish: Callable[[object], object]
    problem: str = ""
    _look_at: float = field(default=0.0, init=False)

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """A question may be answered: look once the vault lies still."""
        if any(self.workspace.vault.home.holds(each.path, QUESTIONS) for each in event.events):
            self._look_at = event.now

    def tick(self, event: Tick) -> None:
        """Submit a look when one is due."""
        if event.now < self._look_at or self.pool.has(KEY) or not self.settled():
            return
        self._look_at = event.now + LOOK
        future = self.pool.submit(self._look, key=KEY, priority=Priority.MAINTENANCE, patience=PATIENCE)
        future.add_done_callback(self._over)

    def _look(self, cancelled: Cancelled) -> None:
        look(reload_settings(self.workspace), self.publish)

    def _over(self, future: "Future[None]") -> None:
        error = None if future.cancelled() else future.exception()
        self.problem = "" if error is None else log_failed_work(logger, "questions", error)
