"""Conversations that wait for the fast model to read them: this machine's private state, so that nothing is lost
with a process."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.records.table import Table
from agent.workspace.workspace import Workspace

SILENT = timedelta(minutes=2)
"""The time without a run after which a conversation has fallen silent."""


@dataclass(frozen=True, slots=True)
class WaitingConversation:
    """A conversation that waits: its session, its runs, when one of them ended last, and how often the model could not
    be asked."""

    session: str
    runs: tuple[str, ...]
    heard: datetime
    tries: int = 0


def begin_waiting(workspace: Workspace, event: TaskCompleted) -> None:
    """Let the conversation of a run that has ended wait."""
    known = waiting_conversation(workspace, event.session)
    runs = tuple(dict.fromkeys((*(known.runs if known else ()), event.run)))
    _save(workspace, WaitingConversation(event.session, runs, workspace.clock.now()))


def tried_once_more(workspace: Workspace, waiting: WaitingConversation) -> None:
    """Record that the model could not be asked."""
    _save(workspace, replace(waiting, tries=waiting.tries + 1))


def end_waiting(workspace: Workspace, session: str) -> None:
    """The conversation waits no longer."""
    _table(workspace).drop(_key(session))


def waiting_conversation(workspace: Workspace, session: str) -> WaitingConversation | None:
    """The conversation with this session, if it waits."""
    return _table(workspace).get(_key(session))


def waiting_conversations(workspace: Workspace) -> Sequence[WaitingConversation]:
    """The conversations that wait; one that cannot be read is skipped."""
    return _table(workspace).all()


def is_own(workspace: Workspace, session: str) -> bool:
    """True if no text in the session's note came from elsewhere without the person having looked at it."""
    return workspace.vault.own_version(session) == workspace.vault.read(session)


def silent_conversations(workspace: Workspace) -> tuple[str, ...]:
    """The sessions of the waiting conversations that have fallen silent."""
    now = workspace.clock.now()
    return tuple(each.session for each in waiting_conversations(workspace) if now - each.heard >= SILENT)


def _table(workspace: Workspace) -> Table[WaitingConversation]:
    return Table(workspace.vault.records, "waiting-conversations", WaitingConversation, is_flushed=False)


def _save(workspace: Workspace, waiting: WaitingConversation) -> None:
    _table(workspace).put(waiting, _key(waiting.session))


def _key(session: str) -> str:
    return PurePosixPath(session).stem
