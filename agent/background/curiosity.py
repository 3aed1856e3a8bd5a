"""Takes in the answers to questions that nothing waits for, closes those that are over, and has the agent ask at most
one thing by itself, if the settings want that: work for the pool, when a question was changed and every ten minutes.

Of several machines with one vault only the one whose turn it is does so, after it has taken in what the others have
asked and settled: no answer is taken in twice, and none asks what another one has asked.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field

from agent.background.failures import failure_of, log_failed_work
from agent.background.pool import Pool, Priority
from agent.background.turns import TurnsToGiveBack
from agent.dataclass import dataclass
from agent.errors import Retryable
from agent.events.types import DaemonStarted, FilesChanged, Tick
from agent.growth.curiosity.look import ask, gap_to_ask, is_something_over, settle
from agent.llm.provider import Cancelled
from agent.markdown.changes import NoteChange
from agent.vault.folders import QUESTIONS
from agent.vault.sync.claims import Claims
from agent.vault.sync.turns import take_turn
from agent.workspace.workspace import Workspace, reload_settings

KEY = "curiosity"
TURN = "questions"
"""The name of the turn for settling and asking."""
LOOK = 600.0
"""Seconds between two looks."""
PATIENCE = 20.0
"""Seconds that a look which has begun gets when the daemon stops: it is a few commits."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Curiosity:
    """The curiosity of one vault's daemon. `settled` says whether what people did by hand is recorded; `publish` is
    told what was answered."""

    workspace: Workspace
    pool: Pool
    claims: Claims
    settled: Callable[[], bool]
    publish: Callable[[object], object]
    problem: str = ""
    _look_at: float = field(default=0.0, init=False)
    _turns: TurnsToGiveBack = field(init=False)

    def __post_init__(self) -> None:
        self._turns = TurnsToGiveBack(self.pool, self.claims, TURN, Priority.MAINTENANCE)

    def start(self, _: DaemonStarted) -> None:
        """Take in what the last daemon has left."""
        self._turns.start(())

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """A question may be answered: look once the vault lies still."""
        if any(self.workspace.vault.home.holds(each.path, QUESTIONS) for each in event.events):
            self._look_at = event.now

    def tick(self, event: Tick) -> None:
        """Submit a look when one is due."""
        self._turns.tick(event.now)
        if event.now < self._look_at or self.pool.has(KEY) or not self.settled():
            return
        self._look_at = event.now + LOOK
        future = self.pool.submit(self._look, key=KEY, priority=Priority.MAINTENANCE, patience=PATIENCE)
        future.add_done_callback(self._over)

    def _look(self, cancelled: Cancelled) -> None:
        """Settle and ask. Most looks find nothing, and no turn is taken for them."""
        workspace = reload_settings(self.workspace)
        if not is_something_over(workspace) and gap_to_ask(workspace) is None:
            return
        turn = take_turn(self.claims, TURN)
        try:
            settle(workspace, self.publish)  # what another machine has done meanwhile is there no more
            gap = gap_to_ask(workspace)
            if gap is not None and not cancelled():
                ask(workspace, gap)
        finally:
            self._turns.add(turn)

    def _over(self, future: "Future[None]") -> None:
        error = failure_of(future)
        self.problem = ""
        if error is not None:
            said = log_failed_work(logger, "questions", error)
            self.problem = "" if isinstance(error, Retryable) else said
