"""The inbox: the notes in which the person asks the agent, what became of them, and requests that programs leave."""

import threading
from http import HTTPStatus
from typing import Annotated, Literal
from urllib.parse import quote

import msgspec

from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.operation import ACTOR, Call, NoParams, Operation, TypedReply
from agent.markdown.note import Note
from agent.markdown.requests import open_requests
from agent.runs.left_requests import GROUPS, is_answered_by_daemon, request_draft
from agent.runs.note_changes import note_changes
from agent.vault.folders import INBOX

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


def list_inbox(call: Call[ListParams, None]) -> InboxRequests:
    """The notes in inbox/."""
    vault = call.service.workspace.vault
    shown, after = page_of(vault.note_paths(vault.home.at(INBOX).rstrip("/")), str, call.params)
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


def leave_request(call: Call[NoParams, NewRequest]) -> TypedReply[LeftRequest]:
    """Leave a request for the agent in a note of its own; the daemon answers it there."""
    workspace = call.service.workspace
    with _ONE_AT_A_TIME:  # the next request finds the name taken
        draft = request_draft(workspace, call.body.text)
        outcome = note_changes(workspace, ACTOR, GROUPS).leave_request(draft)
    answers: Literal["daemon", "nobody"] = "daemon" if is_answered_by_daemon(workspace, draft.path) else "nobody"
    left = LeftRequest(draft.path, outcome.commit, outcome.queued, answers)
    status = HTTPStatus.ACCEPTED if outcome.queued else HTTPStatus.CREATED
    return TypedReply(left, {"Location": f"/api/v1/notes/{quote(draft.path)}"}, status)


OPERATIONS = (
    Operation("GET", "/api/v1/inbox", "list_inbox", "The requests in notes", list_inbox, InboxRequests, ListParams),
    Operation("POST", "/api/v1/inbox", "leave_request", "Leave a request in a note", leave_request, LeftRequest,
              NoParams, NewRequest, 201, (202, 403, 409)),
)  # fmt: skip
