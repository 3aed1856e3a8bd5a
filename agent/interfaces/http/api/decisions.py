"""What waits for the person: calls, skills, arrivals and jobs that need a yes, questions, what no answer settles."""

from typing import Annotated

import msgspec

from agent.deeds import decisions
from agent.deeds.decisions import (
    Approval,
    QuestionView,
    ShownApproval,
    list_approvals,
    list_needs,
    list_questions,
    question_view,
)
from agent.interfaces.http.api.paging import listed
from agent.interfaces.http.operation import Routes
from agent.runs.decisions import resumer_of
from agent.runs.named_decisions import answer_question, find_decision, find_question
from agent.workspace.workspace import Workspace

APPROVALS, QUESTIONS = Routes("/api/v1/approvals"), Routes("/api/v1/questions")
NEEDS = Routes("/api/v1/needs")
DecisionName = Annotated[str, msgspec.Meta(min_length=1, max_length=3_000)]
"""The id, the end of it, the short code, or the note, of what waits."""


class YesOrNo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The person's yes or no; the agent is told the reason."""

    yes: bool
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


class DecidedApproval(Approval, frozen=True, kw_only=True):
    """The decision; `goes_on` is who goes on with the run that waited for it: daemon, later or nobody."""

    goes_on: str


class GivenAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An option, an option's number, or other words."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]


class AnswerWritten(QuestionView, frozen=True, kw_only=True):
    """The answer as it was written, and who goes on with it: daemon, here (it is done), later or nobody."""

    answer: str
    goes_on: str


NEEDS.get("", "All that waits for you")(list_needs)


APPROVALS.get("", "What needs a yes")(listed("ApprovalList", "approvals", list_approvals))


@APPROVALS.get("/{name:path}", "What is asked, in full", 404)
def show_approval(workspace: Workspace, name: DecisionName) -> ShownApproval:
    """One of them in full."""
    return decisions.show_approval(workspace, name)


@APPROVALS.post("/{name:path}", "Say yes or no", 404, 409)
def decide(workspace: Workspace, name: DecisionName, given: YesOrNo) -> DecidedApproval:
    """Say yes or no: once, to exactly what was shown."""
    asked = find_decision(workspace, name)
    done = decisions.decide(workspace, asked, given.yes, given.reason)
    return DecidedApproval.of(done, goes_on=_goes_on(workspace, asked.path))


QUESTIONS.get("", "The open questions")(listed("QuestionList", "questions", list_questions, lambda each: each.path))


@QUESTIONS.post("/{name:path}", "Answer a question", 404, 409)
def answer(workspace: Workspace, name: DecisionName, given: GivenAnswer) -> AnswerWritten:
    """Answer a question; the run that waits for it goes on."""
    question = find_question(workspace, name)
    done = answer_question(workspace, question, given.text)
    goes_on = _goes_on(workspace, question.path) if done.is_of_run else done.goes_on.value
    return question_view(AnswerWritten, question, answer=done.words, goes_on=goes_on)


def _goes_on(workspace: Workspace, path: str) -> str:
    return resumer_of(workspace, path, lambda: False)[0].value
