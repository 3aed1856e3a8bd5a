"""Interrupted runs, and sessions whose note is not as this machine wrote it.

An open call in a session is executed when its run is resumed. So it must be the call that this machine's model made:
anyone who can write to the vault can change a note, and a pull can bring one.
"""

import logging
from collections.abc import Iterator
from shlex import quote

from agent.errors import AgentError, NoteGone, UserError
from agent.llm.messages import ToolResult
from agent.loop.outcome import RunOutcome
from agent.loop.records import Closed, Spoken
from agent.loop.session import Session, load_session
from agent.runs.registry import RunMark, run_registry
from agent.runs.sessions_elsewhere import ELSEWHERE, is_elsewhere
from agent.texts import Sentence, text
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


def is_own(workspace: Workspace, session: Session) -> bool:
    """True if a session's note is as this machine wrote it, so that its calls are those of this machine's model."""
    content, mark = workspace.vault.current_id(session.path), run_registry(workspace.vault).get(session.id)
    if mark is not None and mark.content == content:
        return True
    return workspace.vault.is_own_version(session.path, content)


def load_here(workspace: Workspace, path: str) -> Session:
    """The session at this path; raises `UserError` if it arrived from elsewhere, `NoteGone` if there is none.

    An arrived session is refused because the model gets a session's text unchanged, the system message included.
    """
    session = load_session(workspace.vault, path)  # it may have another path by now
    path = session.path
    if workspace.vault.own_version(path) != workspace.vault.read(path):
        raise UserError(
            "{path}, or a part of it, arrived from elsewhere, and is not gone on with",
            hint="look at it and let it count: vault-agent trust {name}; or ask in a new session",
            path=path,
            name=quote(path),
        )
    if is_elsewhere(workspace, session):
        raise UserError(
            "the run in {path} goes on on another machine",
            hint="go on there, or ask in a new session here; {hours:g} hours after its last message it is gone on with",
            path=path,
            hours=ELSEWHERE.total_seconds() / 3600,
        )
    return session


def doubt_calls(workspace: Workspace, session: Session) -> None:
    """Answer open calls as failed if the session's note is not as this machine wrote it, so that none is executed."""
    if session.open_calls and not is_own(workspace, session):
        text = (
            "not carried out now, and perhaps before: the session's note was changed since, or comes from another "
            "machine; look how things are, then ask again"
        )
        session.add(*(Spoken(ToolResult(call.id, call.name, text, failed=True)) for call in session.open_calls))


def close_cut_off(workspace: Workspace) -> tuple[str, ...]:
    """Close the runs whose process has ended, as interrupted; returns the paths of their sessions."""
    return tuple(_close_each(workspace))


def _close_each(workspace: Workspace) -> Iterator[str]:
    marks = run_registry(workspace.vault)
    for mark in marks.all():
        if mark.waits_for or marks.is_held(mark.id):
            continue
        try:
            with marks.held(mark.id):
                if marks.get(mark.id) != mark:
                    continue
                if _cut_off(workspace, mark):
                    yield mark.session
                marks.drop(mark.id)
        except AgentError as error:
            logger.warning("%s: its last run was cut off and is not closed yet: %s", mark.session, error)


def _cut_off(workspace: Workspace, mark: RunMark) -> bool:
    try:
        session = load_session(workspace.vault, mark.session, mark.id)
    except NoteGone:
        return False  # interrupted before the first save, or the note was removed since
    last = session.records[-1].event if session.records else None
    if isinstance(last, Closed) or session.open_run is None or session.open_run.run != mark.run:
        return False
    doubt_calls(workspace, session)
    session.language = workspace.settings.vault.language
    session.add(Closed(mark.run, RunOutcome.INTERRUPTED, text("runs.stopped", session.language)))
    session.save(Sentence("session: interrupted: the program was stopped"))
    return True
