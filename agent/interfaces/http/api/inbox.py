"""The inbox: the notes in which the person asks the agent, what became of them, and requests that programs leave."""

import threading
from http import HTTPStatus
from typing import Annotated, Literal
from urllib.parse import quote

import msgspec

from agent.interfaces.http.api.paging import NEXT, page_of
from agent.interfaces.http.operation import ACTOR, ListPage, Routes, TypedReply
from agent.markdown.note import Note
from agent.markdown.requests import open_requests
from agent.runs.left_requests import GROUPS, is_answered_by_daemon, request_draft
from agent.runs.note_changes import note_changes
from agent.vault.folders import INBOX
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1/inbox")
_ONE_AT_A_TIME = threading.Lock()


class InboxRequest(msgspec.Struct, frozen=True):
    """A note in inbox/. `status` is what its header says (null: nothing was done yet); `open` what is asked in it."""

    path: str
    title: str
    status: str | None
    open: list[str]


class InboxRequests(msgspec.Struct, frozen=True):
    """The requests in notes."""

    requests: list[InboxRequest]
    next_cursor: NEXT


@ROUTES.get("", "The requests in notes")
def list_inbox(workspace: Workspace, page: ListPage) -> InboxRequests:
    """The notes in inbox/."""
    vault = workspace.vault
    shown, after = page_of(vault.note_paths(vault.home.at(INBOX).rstrip("/")), str, page)
    found: list[InboxRequest] = []
    for path in shown:
        data = vault.read(path) or b""
        note = Note.parse(data)
        if note.type != "about":
            asked = [each.text for each in open_requests(data, whole=True)]
            found.append(InboxRequest(path, note.title(path), note.string("status"), asked))
    return InboxRequests(found, after)


class NewRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the agent is asked, in Markdown."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=200_000)]


class LeftRequest(msgspec.Struct, frozen=True):
    """A request that was left in the note at `path`, in which its answer will stand. `commit` is null while the note
    waits to be written because of `queued`. `answered_by`: the daemon, or nobody by itself, as the settings say."""

    path: str
    commit: str | None
    queued: str | None
    answered_by: Literal["daemon", "nobody"]


@ROUTES.post("", "Leave a request in a note", 202, 403, 409, status=201)
def leave_request(workspace: Workspace, new: NewRequest) -> TypedReply[LeftRequest]:
    """Leave a request for the agent in a note of its own; the daemon answers it there."""
    with _ONE_AT_A_TIME:  # the next request finds the name taken
        draft = request_draft(workspace, new.text)
        outcome = note_changes(workspace, ACTOR, GROUPS).leave_request(draft)
    answers: Literal["daemon", "nobody"] = "daemon" if is_answered_by_daemon(workspace, draft.path) else "nobody"
    left = LeftRequest(draft.path, outcome.commit, outcome.queued, answers)
    status = HTTPStatus.ACCEPTED if outcome.queued else HTTPStatus.CREATED
    return TypedReply(left, {"Location": f"/api/v1/notes/{quote(draft.path)}"}, status)
