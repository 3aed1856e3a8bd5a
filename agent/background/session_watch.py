"""Hears of runs that have ended, wherever they ran: from their sessions' notes, which are the bus between processes.

Each run is told once, as `task.completed`. What ended before the daemon began is not told.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from agent.errors import AgentError
from agent.events.runs import TaskCompleted
from agent.events.types import FilesChanged, NoteCreated, NoteEdited, Origin
from agent.loop.session import load_session
from agent.markdown.changes import NoteChange
from agent.runs.completed import completed_runs
from agent.vault.folders import SESSIONS
from agent.vault.store import Vault

KEPT = 1_000
"""Runs that are remembered as told."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class SessionWatch:
    """The sessions of one vault, looked at since `since`. `tell` publishes each run that has ended."""

    vault: Vault
    since: datetime
    tell: Callable[[TaskCompleted], object]
    _told: OrderedDict[tuple[str, str, str], None] = field(default_factory=OrderedDict, init=False)

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """Look for ended runs in the sessions that this machine has written."""
        for each in event.events:
            match each:
                case NoteCreated(path=path, origin=Origin.OWN) | NoteEdited(path=path, origin=Origin.OWN):
                    if path.startswith(SESSIONS):
                        self._look(path)

    def _look(self, path: str) -> None:
        try:
            ended = completed_runs(load_session(self.vault, path))
        except (AgentError, OSError) as error:
            logger.info("%s: cannot be read: %s", path, error)
            return
        for each in ended:
            assert each.at is not None
            key = (path, each.run, each.at.isoformat())
            if each.at >= self.since and key not in self._told:
                self._told[key] = None
                while len(self._told) > KEPT:
                    self._told.popitem(last=False)
                self.tell(each)
