"""Conversations that wait for the fast model to read them: this machine's private state, a file for each, so that
nothing is lost with a process."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from agent.config import private
from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
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
    """Let the conversation of a run that has ended wait; raises `OSError`."""
    file = _file(workspace, event.session)
    known = _load(file)
    runs = tuple(dict.fromkeys((*(known.runs if known else ()), event.run)))
    _save(workspace, WaitingConversation(event.session, runs, workspace.clock.now()))


def tried_once_more(workspace: Workspace, waiting: WaitingConversation) -> None:
    """Record that the model could not be asked."""
    _save(workspace, replace(waiting, tries=waiting.tries + 1))


def end_waiting(workspace: Workspace, session: str) -> None:
    """The conversation waits no longer."""
    _file(workspace, session).unlink(missing_ok=True)


def waiting_conversation(workspace: Workspace, session: str) -> WaitingConversation | None:
    """The conversation with this session, if it waits."""
    return _load(_file(workspace, session))


def waiting_conversations(workspace: Workspace) -> Iterator[WaitingConversation]:
    """The conversations that wait; a file that cannot be read is skipped."""
    folder = _folder(workspace)
    for file in sorted(folder.glob("*.txt")) if folder.is_dir() else ():
        if (found := _load(file)) is not None:
            yield found


def is_own(workspace: Workspace, session: str) -> bool:
    """True if no text in the session's note came from elsewhere without the person having looked at it."""
    return workspace.vault.own_version(session) == workspace.vault.read(session)


def silent_conversations(workspace: Workspace) -> tuple[str, ...]:
    """The sessions of the waiting conversations that have fallen silent."""
    now = workspace.clock.now()
    return tuple(each.session for each in waiting_conversations(workspace) if now - each.heard >= SILENT)


def _folder(workspace: Workspace) -> Path:
    return workspace.vault.private_folder / "conversations"


def _file(workspace: Workspace, session: str) -> Path:
    return _folder(workspace) / f"{Path(session).stem}.txt"


def _save(workspace: Workspace, waiting: WaitingConversation) -> None:
    private.make_folder(_folder(workspace))
    heard = " ".join(filter(None, [waiting.heard.isoformat(), str(waiting.tries or "")]))
    private.replace(_file(workspace, waiting.session), "\n".join([waiting.session, heard, *waiting.runs]))


def _load(file: Path) -> WaitingConversation | None:
    try:
        session, heard, *runs = file.read_text("utf-8").splitlines()
        when, _, tries = heard.partition(" ")
        return WaitingConversation(session, tuple(runs), datetime.fromisoformat(when), int(tries or 0))
    except (OSError, ValueError):
        return None
