"""What waits for the person: calls, skills, arrivals and jobs that need a yes, questions, what no answer settles. And
the inbox: the notes in which the person asks the agent, what became of them, and requests that programs leave.
"""

import threading
from http import HTTPStatus
from typing import Annotated, Literal
from urllib.parse import quote

import msgspec

from agent.deeds import decisions
from agent.deeds import decisions as deeds
from agent.interfaces.http.operation import ACTOR, NEXT, ListPage, Routes, TypedReply, listed, page_of
from agent.markdown.note import Note
from agent.markdown.requests import open_requests
from agent.runs.decisions import resumer_of
from agent.runs.left_requests import GROUPS, is_answered_by_daemon, request_draft
from agent.runs.named_decisions import answer_question, find_decision, find_question
from agent.runs.note_changes import note_changes
from agent.vault.folders import INBOX
from agent.workspace.workspace import Workspace

APPROVALS, QUESTIONS = Routes("/api/v1/approvals"), Routes("/api/v1/questions")
NEEDS = Routes("/api/v1/needs")
AnswerText = Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]
"""An option, an option's number, or other words."""
DecisionReason = Annotated[str, msgspec.Meta(max_length=500)]
"""Why; the agent is told."""
RequestText = Annotated[str, msgspec.Meta(min_length=1, max_length=200_000)]
"""What the agent is asked, in Markdown."""
DecisionName = Annotated[str, msgspec.Meta(min_length=1, max_length=3_000)]
"""The id, the end of it, the short code, or the note, of what waits."""


class DecidedApproval(deeds.Approval, frozen=True, kw_only=True):
    """The decision; `goes_on` is who goes on with the run that waited for it: daemon, later or nobody."""

    goes_on: str


class AnswerWritten(deeds.QuestionView, frozen=True, kw_only=True):
    """The answer as it was written, and who goes on with it: daemon, here (it is done), later or nobody."""

    answer: str
    goes_on: str


NEEDS.get("", "All that waits for you")(deeds.list_needs)


APPROVALS.get("", "What needs a yes")(listed("ApprovalList", "approvals", deeds.list_approvals))


@APPROVALS.get("/{name:path}", "What is asked, in full", 404)
def show_approval(workspace: Workspace, name: DecisionName) -> deeds.WholeApproval:
    """One of them in full."""
    return decisions.show_approval(workspace, name)


@APPROVALS.post("/{name:path}", "Say yes or no", 404, 409)
def decide(workspace: Workspace, name: DecisionName, yes: bool, reason: DecisionReason = "") -> DecidedApproval:
    """Say yes or no: once, to exactly what was shown."""
    asked = find_decision(workspace, name)
    done = decisions.decide(workspace, asked, yes, reason)
    return DecidedApproval.of(done, goes_on=_goes_on(workspace, asked.path))


QUESTIONS.get("", "The open questions")(
    listed("QuestionList", "questions", deeds.list_questions, lambda each: each.path)
)


@QUESTIONS.post("/{name:path}", "Answer a question", 404, 409)
def answer(workspace: Workspace, name: DecisionName, text: AnswerText) -> AnswerWritten:
    """Answer a question; the run that waits for it goes on."""
    question = find_question(workspace, name)
    done = answer_question(workspace, question, text)
    goes_on = _goes_on(workspace, question.path) if done.is_of_run else done.goes_on.value
    return deeds.question_view(AnswerWritten, question, answer=done.words, goes_on=goes_on)


def _goes_on(workspace: Workspace, path: str) -> str:
    return resumer_of(workspace, path, lambda: False)[0].value


INBOX_ROUTES = Routes("/api/v1/inbox")
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


@INBOX_ROUTES.get("", "The requests in notes")
def list_inbox(workspace: Workspace, page: ListPage) -> InboxRequests:
    """The notes in inbox/."""
    vault = workspace.vault
    paths, after = page_of(vault.note_paths(vault.home.at(INBOX).rstrip("/")), str, page)
    found: list[InboxRequest] = []
    for path in paths:
        data = vault.read(path) or b""
        note = Note.parse(data)
        if note.type != "about":
            asked = [each.text for each in open_requests(data, whole=True)]
            found.append(InboxRequest(path, note.title(path), note.string("status"), asked))
    return InboxRequests(found, after)


class LeftRequest(msgspec.Struct, frozen=True):
    """A request that was left in the note at `path`, in which its answer will stand. `commit` is null while the note
    waits to be written because of `queued`. `answered_by`: the daemon, or nobody by itself, as the settings say."""

    path: str
    commit: str | None
    queued: str | None
    answered_by: Literal["daemon", "nobody"]


@INBOX_ROUTES.post("", "Leave a request in a note", 202, 403, 409, status=201)
def leave_request(workspace: Workspace, text: RequestText) -> TypedReply[LeftRequest]:
    """Leave a request for the agent in a note of its own; the daemon answers it there."""
    with _ONE_AT_A_TIME:  # the next request finds the name taken
        draft = request_draft(workspace, text)
        outcome = note_changes(workspace, ACTOR, GROUPS).leave_request(draft)
    answers: Literal["daemon", "nobody"] = "daemon" if is_answered_by_daemon(workspace, draft.path) else "nobody"
    left = LeftRequest(draft.path, outcome.commit, outcome.queued, answers)
    status = HTTPStatus.ACCEPTED if outcome.queued else HTTPStatus.CREATED
    return TypedReply(left, {"Location": f"/api/v1/notes/{quote(draft.path)}"}, status)
