"""Keeps the machines with one vault in touch: this one's note once a day, and what each has spent.

Work for the pool, as it asks the remote. A vault without a remote has none of it.
"""

import logging
from collections.abc import Callable
from dataclasses import field
from datetime import date

from agent.background.pool import Pool, Priority
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.types import Tick
from agent.runs.machines import note_machine
from agent.runs.shared_spend import SpendSharing
from agent.workspace.machine import open_claims
from agent.workspace.workspace import Workspace

INTERVAL = 600.0
"""Seconds between two looks at what the other machines have spent; each costs two questions to the remote."""
KEY = "machines"

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class MachineContact:
    """The contact of one daemon with the other machines."""

    workspace: Workspace
    pool: Pool
    settled: Callable[[], bool]
    _spend: SpendSharing = field(init=False)
    _due: float = field(default=0.0, init=False)
    _cleaned: date | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._spend = SpendSharing(self.workspace)

    def tick(self, event: Tick) -> None:
        """Submit the work when it is due, and what people did by hand is recorded."""
        if event.now < self._due or self.pool.has(KEY) or not self.settled():
            return
        self._due = event.now + INTERVAL
        if open_claims(self.workspace).remote is not None:
            self.pool.submit(lambda cancelled: self.look(), key=KEY, priority=Priority.MAINTENANCE)

    def look(self) -> None:
        """Write this machine's note, tell and hear what was spent, and remove old claims once a day."""
        claims, today = open_claims(self.workspace), self.workspace.clock.now().date()
        try:
            note_machine(self.workspace, has_daemon=True)
            self._spend.exchange()
            if self._cleaned != today:
                claims.clean()
                self._cleaned = today
        except (AgentError, OSError) as error:
            logger.info("the other machines cannot be told now: %s", error)
