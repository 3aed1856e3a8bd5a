"""What waits for the person: calls, skills, arrivals and jobs that need a yes, and questions."""

from typing import Annotated

import msgspec

from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.api.typed import typed
from agent.interfaces.http.operation import Call, Operation
from agent.runs.decision_codes import codes_by_path
from agent.runs.decisions import approvals as approvals_of
from agent.runs.decisions import question_document
from agent.runs.named_decisions import answer_question, decision_text, find_decision, find_question
from agent.runs.pending_decisions import call_document, decide_in_note, decision_document, pending_decisions
from agent.runs.resumer import resumer_of
from agent.runs.waiting_questions import waiting_questions
from agent.workspace.workspace import Workspace


class ByDecision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The id, the end of it, the short code, or the note, of what waits."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=3_000)]


class Approval(msgspec.Struct, frozen=True):
    """What needs a yes. `kind` is call, skill_review, skill_offer, arrived_note, remote, job, rule or mutation; a call
    has a `tool` and the exact `call`, the others the `name` of what they are about, some with the `question` in the
    person's language. `code` names it in short."""

    id: str
    kind: str
    path: str
    status: str
    created: str | None
    code: str | None = None
    name: str | None = None
    question: str | None = None
    tool: str | None = None
    call: str | None = None
    run: str | None = None
    session: str | None = None
    expires: str | None = None
    reason: str | None = None


class ApprovalList(msgspec.Struct, frozen=True):
    """All that waits for a yes on this machine, the oldest first."""

    approvals: list[Approval]
    next_cursor: NEXT


class ShownApproval(Approval, frozen=True, kw_only=True):
    """What is asked in full: a call with the changes that it would make, or the note about a skill or arrival."""

    text: str


class YesOrNo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The person's yes or no; the agent is told the reason."""

    yes: bool
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


class DecidedApproval(Approval, frozen=True, kw_only=True):
    """The decision; `goes_on` is who goes on with the run that waited for it: daemon, later or nobody."""

    goes_on: str


class QuestionView(msgspec.Struct, frozen=True):
    """A question of the agent; `options` are those that it offers, and other words are an answer, too."""

    id: str
    path: str
    question: str
    options: list[str]
    run: str
    expires: str | None
    code: str | None = None


class QuestionList(msgspec.Struct, frozen=True):
    """The questions that wait for an answer."""

    questions: list[QuestionView]
    next_cursor: NEXT


class GivenAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An option, an option's number, or other words."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]


class AnswerWritten(QuestionView, frozen=True, kw_only=True):
    """The answer as it was written, and who goes on with it: daemon, here (it is done), later or nobody."""

    answer: str
    goes_on: str


def list_approvals(call: Call[ListParams, None]) -> ApprovalList:
    """What waits for a yes."""
    workspace = call.service.workspace
    shown, after = page_of(pending_decisions(workspace), lambda each: each.id, call.params)
    codes = codes_by_path(workspace) if shown else {}
    found = [{**decision_document(each), "code": codes.get(each.path)} for each in shown]
    return ApprovalList(typed(found, list[Approval]), after)


def show_approval(call: Call[ByDecision, None]) -> ShownApproval:
    """One of them in full."""
    workspace = call.service.workspace
    asked = find_decision(workspace, call.params.name)
    text = decision_text(workspace, asked)
    return typed({**decision_document(asked), "text": text}, ShownApproval)


def decide(call: Call[ByDecision, YesOrNo]) -> DecidedApproval:
    """Say yes or no: once, to exactly what was shown."""
    workspace, given = call.service.workspace, call.body
    asked = find_decision(workspace, call.params.name)
    if asked.call is not None:
        decided = approvals_of(workspace).decide(asked.id, given.yes, given.reason)
        return typed({**call_document(decided), "goes_on": _goes_on(workspace, asked.path)}, DecidedApproval)
    status = decide_in_note(workspace, asked, given.yes, given.reason)
    document = {**decision_document(asked), "status": status, "reason": given.reason or None}
    return typed({**document, "goes_on": _goes_on(workspace, asked.path)}, DecidedApproval)


def list_questions(call: Call[ListParams, None]) -> QuestionList:
    """The questions that wait."""
    workspace = call.service.workspace
    shown, after = page_of(waiting_questions(workspace), lambda each: each.path, call.params)
    codes = codes_by_path(workspace) if shown else {}
    found = [{**question_document(each), "code": codes.get(each.path)} for each in shown]
    return QuestionList(typed(found, list[QuestionView]), after)


def answer(call: Call[ByDecision, GivenAnswer]) -> AnswerWritten:
    """Answer a question; the run that waits for it goes on."""
    workspace = call.service.workspace
    question = find_question(workspace, call.params.name)
    done = answer_question(workspace, question, call.body.text)
    goes_on = _goes_on(workspace, question.path) if done.is_of_run else done.goes_on.value
    return typed({**question_document(question), "answer": done.words, "goes_on": goes_on}, AnswerWritten)


def _goes_on(workspace: Workspace, path: str) -> str:
    return resumer_of(workspace, path, lambda: False)[0].value


OPERATIONS = (
    Operation("GET", "/api/v1/approvals", "list_approvals", "What needs a yes", list_approvals, ApprovalList,
              ListParams),
    Operation("GET", "/api/v1/approvals/{name:path}", "show_approval", "What is asked, in full", show_approval,
              ShownApproval, ByDecision, problems=(404,)),
    Operation("POST", "/api/v1/approvals/{name:path}", "decide", "Say yes or no", decide, DecidedApproval, ByDecision,
              YesOrNo, 200, (404, 409)),
    Operation("GET", "/api/v1/questions", "list_questions", "The open questions", list_questions, QuestionList,
              ListParams),
    Operation("POST", "/api/v1/questions/{name:path}", "answer", "Answer a question", answer, AnswerWritten, ByDecision,
              GivenAnswer, 200, (404, 409)),
)  # fmt: skip
