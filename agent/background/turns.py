"""The turns of this machine whose result is written and not on the remote yet; handed over by work for the pool."""

import logging
from collections.abc import Callable, Collection
from dataclasses import field
from functools import partial

from agent.background.pool import Pool, Priority
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.vault.sync.claims import Claims
from agent.vault.sync.turns import Turn, held_turns

_AGAIN = 10.0
"""Seconds until a result that could not be sent is tried again."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class TurnsToGiveBack:
    """The turns for work of one kind: their names begin with `prefix`."""

    pool: Pool
    claims: Claims
    prefix: str
    priority: Priority
    _due: dict[str, tuple[Turn, float]] = field(default_factory=dict, init=False)

    def start(self, taken: Collection[str]) -> None:
        """Take in the turns that the last daemon has left, but for those with these names, whose work goes on."""
        for turn in held_turns(self.claims):
            if turn.claim.what.startswith(self.prefix) and turn.claim.what not in taken:
                self._due[turn.claim.what] = turn, 0.0

    def add(self, turn: Turn) -> None:
        """Hand over a turn whose work is done, or is not to be done any more."""
        self._due[turn.claim.what] = turn, 0.0

    def tick(self, now: float) -> None:
        """Submit what is due."""
        for what, (turn, due) in list(self._due.items()):
            key = f"turn {what}"
            if now >= due and not self.pool.has(key):
                self._due[what] = turn, now + _AGAIN
                self.pool.submit(partial(self._hand_over, turn), key=key, priority=self.priority)

    def _hand_over(self, turn: Turn, cancelled: Callable[[], bool]) -> None:
        try:
            is_done = turn.hand_over()
        except (AgentError, OSError) as error:
            logger.info("%s: not given back yet: %s", turn.claim.what, error)
            return
        found = self._due.get(turn.claim.what)
        if is_done and found is not None and found[0] is turn:
            self._due.pop(turn.claim.what, None)
