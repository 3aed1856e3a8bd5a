"""The turns of this machine whose result is written and not on the remote yet; handed over by work for the pool."""

import logging
from collections.abc import Callable, Collection
from dataclasses import field
from functools import partial

from agent.background.pool import Pool, Priority
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.types import DaemonStarted
from agent.vault.sync.claims import Claims
from agent.vault.sync.turns import Turn, held_turns

_AGAIN = 10.0
"""Seconds until a result that could not be sent is tried again."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class TurnsToGiveBack:
    """The turns for all work of one daemon. `going_on` returns the names of those whose work the last daemon has left
    and this one goes on with."""

    pool: Pool
    claims: Claims
    going_on: Callable[[], Collection[str]] = lambda: ()
    _due: dict[str, Turn] = field(default_factory=dict, init=False)

    def start(self, _: DaemonStarted) -> None:
        """Take in the turns that the last daemon has left."""
        going_on = self.going_on()
        for turn in held_turns(self.claims):
            if turn.claim.what not in going_on:
                self.add(turn)

    def add(self, turn: Turn) -> None:
        """Hand over a turn whose work is done, or is not to be done any more."""
        self._due[turn.claim.what] = turn
        self._submit(turn)

    def turn(self, _: float) -> float:
        """Try again what could not be handed over."""
        for turn in list(self._due.values()):
            self._submit(turn)
        return _AGAIN

    def _submit(self, turn: Turn) -> None:
        key = f"turn {turn.claim.what}"
        if not self.pool.has(key):
            self.pool.submit(partial(self._hand_over, turn), key=key, priority=Priority.NETWORK)

    def _hand_over(self, turn: Turn, cancelled: Callable[[], bool]) -> None:
        try:
            is_done = turn.hand_over()
        except (AgentError, OSError) as error:
            logger.info("%s: not given back yet: %s", turn.claim.what, error)
            return
        if is_done and self._due.get(turn.claim.what) is turn:
            self._due.pop(turn.claim.what, None)
