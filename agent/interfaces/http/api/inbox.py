"""The inbox: the notes in which the person asks the agent, and what became of them."""

import msgspec

from agent.interfaces.http.api.paging import NEXT, Page, page_of
from agent.interfaces.http.operation import Call, Operation
from agent.markdown.note import Note
from agent.markdown.requests import open_requests
from agent.vault.folders import INBOX


class Request(msgspec.Struct, frozen=True):
    """A note in inbox/. `status` is what its header says (null: nothing was done yet); `open` what is asked in it."""

    path: str
    title: str
    status: str | None
    open: list[str]


class Inbox(msgspec.Struct, frozen=True):
    """The requests in notes."""

    requests: list[Request]
    next_cursor: NEXT


def list_inbox(call: Call[Page, None]) -> Inbox:
    """The notes in inbox/."""
    vault = call.service.workspace.vault
    shown, after = page_of(vault.note_paths(vault.home.at(INBOX).rstrip("/")), str, call.params)
    found: list[Request] = []
    for path in shown:
        data = vault.read(path) or b""
        note = Note.parse(data)
        if note.type != "about":
            asked = [each.text for each in open_requests(data, whole=True)]
            found.append(Request(path, note.title(path), note.string("status"), asked))
    return Inbox(found, after)


OPERATIONS = (Operation("GET", "/api/v1/inbox", "list_inbox", "The requests in notes", list_inbox, Inbox, Page),)
