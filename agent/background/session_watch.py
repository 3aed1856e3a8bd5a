"""Hears of runs that have ended, wherever they ran: from their sessions' notes, which are the bus between processes.

Each run is told once, as `task.completed`. What ended before the daemon began is not told.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import field
from datetime import datetime

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.runs import TaskCompleted
from agent.events.types import FilesChanged, NoteCreated, NoteEdited, Origin
from agent.llm.messages import Assistant, ToolResult, Usage
from agent.loop.records import Began, Closed, SessionRecord, Spoken
from agent.loop.session import Session, load_session
from agent.markdown.changes import NoteChange
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
    _published: OrderedDict[tuple[str, str, str], None] = field(default_factory=OrderedDict, init=False)

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """Look for ended runs in the sessions that this machine has written."""
        for each in event.events:
            match each:
                case NoteCreated(path=path, origin=Origin.OWN) | NoteEdited(path=path, origin=Origin.OWN):
                    if self.vault.home.holds(path, SESSIONS):
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
            if each.at >= self.since and key not in self._published:
                self._published[key] = None
                while len(self._published) > KEPT:
                    self._published.popitem(last=False)
                self.tell(each)


def completed_runs(session: Session) -> Iterator[TaskCompleted]:
    """One event for each time that a run in the session has ended or paused, oldest first; `at` is set in each.

    Seconds are counted from the start of the run and include the time in which it waited for its person.
    """
    began: tuple[SessionRecord, Began] | None = None
    since: list[SessionRecord] = []
    for record in session.records:
        match record.event:
            case Began() as event:
                began, since = (record, event), []
            case Closed() as closed if began is not None and began[1].run == closed.run:
                yield _completed(session.path, *began, since, record, closed)
            case _:
                since.append(record)


def _completed(
    path: str, start: SessionRecord, began: Began, since: list[SessionRecord], end: SessionRecord, closed: Closed
) -> TaskCompleted:
    spoken = [each.event for each in since if isinstance(each.event, Spoken)]
    answers = [each.message for each in spoken if isinstance(each.message, Assistant)]
    used = sum((each.usage for each in spoken if each.usage), Usage())
    return TaskCompleted(
        closed.run,
        path,
        began.task,
        began.speaker,
        closed.outcome,
        answers[-1].text if answers else "",
        tuple(each.message.name for each in spoken if isinstance(each.message, ToolResult)),
        (end.at - start.at).total_seconds(),
        len(answers),
        used.input,
        used.output,
        end.at,
        job=began.job,
    )
