"""Sessions: what was said in each conversation, from its note."""

from typing import Annotated

import msgspec

from agent.deeds.conversations import SessionInfo, find_session_info, session_info
from agent.deeds.result import ResultValue
from agent.interfaces.http.api.paging import NEXT, page_of
from agent.interfaces.http.operation import PATH_FORM, ListPage, Routes
from agent.llm.messages import Assistant, Context, Message, ToolResult, User
from agent.loop.records import Spoken
from agent.loop.session import load_session
from agent.loop.session import sessions as session_paths
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1/sessions")
Path = Annotated[str, msgspec.Meta(min_length=1, max_length=3_000, extra_json_schema=dict(PATH_FORM))]


class Sessions(msgspec.Struct, frozen=True):
    """The sessions, the newest day first."""

    sessions: list[SessionInfo]
    next_cursor: NEXT


class MessageView(ResultValue, frozen=True):
    """A message. `role` is user, assistant, tool or context; `tools` those that it calls, or the tool of its result."""

    at: str
    role: str
    text: str
    sender: str
    tools: list[str]


class WholeSession(SessionInfo, frozen=True, kw_only=True):
    """A session with its messages, the oldest first."""

    messages: list[MessageView]


@ROUTES.get("", "The conversations")
def list_sessions(workspace: Workspace, page: ListPage) -> Sessions:
    """The sessions of the vault."""
    vault = workspace.vault
    shown, after = page_of(session_paths(vault), str, page)
    return Sessions([found for path in shown if (found := find_session_info(vault, path)) is not None], after)


@ROUTES.get("/{path:path}", "What was said in one", 404)
def show_session(workspace: Workspace, path: Path) -> WholeSession:
    """What was said in a session."""
    session = load_session(workspace.vault, path)
    spoken = [(each.at.isoformat(), each.event.message) for each in session.records if isinstance(each.event, Spoken)]
    messages = [view for at, message in spoken if (view := _message(at, message)) is not None]
    return WholeSession.of(session_info(session), messages=messages)


def _message(at: str, message: Message) -> MessageView | None:
    match message:
        case User(text, sender):
            return MessageView(at, "user", text, sender, [])
        case Context(text):
            return MessageView(at, "context", text, "", [])
        case Assistant(text, calls):
            return MessageView(at, "assistant", text, "", [call.name for call in calls])
        case ToolResult(_, name, text):
            return MessageView(at, "tool", text, "", [name])
        case _:
            return None
