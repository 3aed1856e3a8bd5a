"""Keeps the machines with one vault in touch: this one's note once a day, and what each has spent.

A vault without a remote has none of it.
"""

import logging
from dataclasses import field
from datetime import date

from agent.background.routine import LookEvery, Routine
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.runs.machines import note_machine
from agent.runs.shared_spend import SpendSharing
from agent.workspace.machine import open_claims
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class MachineContact:
    """The contact of one daemon with the other machines."""

    workspace: Workspace
    _spend: SpendSharing = field(init=False)
    _cleaned: date | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._spend = SpendSharing(self.workspace)

    def routine(self) -> Routine:
        """A look every ten minutes; each costs two questions to the remote."""
        return Routine(
            "other machines", lambda *_: self.look(), looks=(LookEvery(600.0, self._has_remote),), key="machines"
        )

    def _has_remote(self) -> bool:
        return open_claims(self.workspace).remote is not None

    def look(self) -> None:
        """Write this machine's note, tell and hear what was spent, and remove old claims once a day."""
        claims, today = open_claims(self.workspace), self.workspace.clock.now().date()
        try:
            note_machine(self.workspace, has_daemon=True)
            self.share_spend()
            if self._cleaned != today:
                claims.clean()
                self._cleaned = today
        except (AgentError, OSError) as error:
            logger.info("the other machines cannot be told now: %s", error)

    def share_spend(self) -> None:
        """Show the other machines what was spent here today, and record what they show: the daily limits count all."""
        self._spend.exchange()
