"""Sessions: what was said in each conversation, from its note."""

from pathlib import PurePosixPath
from typing import Annotated

import msgspec

from agent.context.compaction import said_messages
from agent.errors import NoteGone
from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.operation import Call, Operation
from agent.loop.records import Began, Closed, Spoken
from agent.loop.session import Session, load_session
from agent.loop.session import sessions as session_paths
from agent.vault.store import Vault


class BySession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A session by its note."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=3_000)]


class SessionInfo(msgspec.Struct, frozen=True):
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


class Sessions(msgspec.Struct, frozen=True):
    """The sessions, the newest day first."""

    sessions: list[SessionInfo]
    next_cursor: NEXT


class MessageView(msgspec.Struct, frozen=True):
    """A message. `role` is user, assistant, tool or context; `tools` those that it calls, or the tool of its result."""

    at: str
    role: str
    text: str
    sender: str
    tools: list[str]


class WholeSession(SessionInfo, frozen=True, kw_only=True):
    """A session with its messages, the oldest first."""

    messages: list[MessageView]


def list_sessions(call: Call[ListParams, None]) -> Sessions:
    """The sessions of the vault."""
    vault = call.service.workspace.vault
    shown, after = page_of(session_paths(vault), str, call.params)
    return Sessions([found for path in shown if (found := _info(vault, path)) is not None], after)


def show_session(call: Call[BySession, None]) -> WholeSession:
    """What was said in a session."""
    session = load_session(call.service.workspace.vault, call.params.path)
    spoken = [(each.at, each.event.message) for each in session.records if isinstance(each.event, Spoken)]
    messages = [
        MessageView(at.isoformat(), said.role, said.text, said.sender, list(said.tools))
        for at, message in spoken
        for said in said_messages([message])
    ]
    return WholeSession(**msgspec.structs.asdict(_of(session)), messages=messages)


def _info(vault: Vault, path: str) -> SessionInfo | None:
    try:
        return _of(load_session(vault, path))
    except NoteGone:
        return None


def _of(session: Session) -> SessionInfo:
    began = [each for each in session.records if isinstance(each.event, Began)]
    closed = [each.event.outcome for each in session.records if isinstance(each.event, Closed)]
    return SessionInfo(
        session.path,
        session.id,
        PurePosixPath(session.path).stem,
        session.channel,
        began[0].at.isoformat() if began else None,
        session.last.isoformat() if session.last else None,
        len(began),
        closed[-1] if len(closed) >= len(began) > 0 else None,
        session.waits,
    )


OPERATIONS = (
    Operation("GET", "/api/v1/sessions", "list_sessions", "The conversations", list_sessions, Sessions, ListParams),
    Operation("GET", "/api/v1/sessions/{path:path}", "show_session", "What was said in one", show_session,
              WholeSession, BySession, problems=(404,)),
)  # fmt: skip
