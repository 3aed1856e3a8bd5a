"""Conversations: what was said with the agent, by whatever channel it came."""

from pathlib import PurePosixPath

from agent.channel_names import OF_JOBS
from agent.deeds.result import ResultValue
from agent.errors import NoteGone
from agent.loop.records import Began, Closed
from agent.loop.session import Session, load_session, sessions
from agent.loop.session_names import glance_at
from agent.markdown.title import short_heading
from agent.vault.store import Vault

_LOOKED_AT = 1_000
"""The most sessions, the newest first, among which conversations are looked for; of a job's, the header is read."""


class SessionInfo(ResultValue, frozen=True):
    """A session; `outcome` is that of its last run, null while it goes on, and `waits` true if that waits for its
    person."""

    path: str
    id: str
    title: str
    channel: str
    began: str | None
    last: str | None
    runs: int
    outcome: str | None
    waits: bool


def session_info(session: Session) -> SessionInfo:
    """A session, titled by what was asked first."""
    began = [each for each in session.records if isinstance(each.event, Began)]
    closed = [each.event.outcome for each in session.records if isinstance(each.event, Closed)]
    asked = next((each.event.task for each in began if isinstance(each.event, Began)), "")
    return SessionInfo.of(
        session,
        title=short_heading(asked) or PurePosixPath(session.path).stem,
        began=began[0].at if began else None,
        runs=len(began),
        outcome=closed[-1] if len(closed) >= len(began) > 0 else None,
    )


def find_session_info(vault: Vault, path: str) -> SessionInfo | None:
    """The session at a path; None if it is gone."""
    try:
        return session_info(load_session(vault, path))
    except NoteGone:
        return None


def conversations(vault: Vault, most: int) -> list[SessionInfo]:
    """The last conversations with people, the one in which something was said last first. The work of jobs and parts of
    other runs are none."""
    found: list[Session] = []
    for path in sessions(vault)[:_LOOKED_AT]:
        if len(found) == most:
            break
        if glance_at(vault, path).string("channel") == OF_JOBS:
            continue
        try:
            session = load_session(vault, path)
        except NoteGone:
            continue
        if not session.parent and any(_is_asked(each.event) for each in session.records):
            found.append(session)
    found.sort(key=lambda session: session.records[-1].at, reverse=True)
    return [session_info(each) for each in found]


def _is_asked(event: object) -> bool:
    """True for the begin of a run that no job has begun."""
    return isinstance(event, Began) and not event.job
