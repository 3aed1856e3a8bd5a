"""What waits for the person: calls, skills, arrivals and jobs that need a yes, and questions."""

from typing import TypeVar

from agent.asking.codes import codes_by_path
from agent.asking.proposal import Proposal
from agent.asking.questions.question import Question
from agent.asking.replies import parse_yes_or_no
from agent.deeds.result import ResultValue
from agent.errors import Unknown, UserError
from agent.runs.kinds import decide_proposal, pending_decisions
from agent.runs.named_decisions import decision_text, find_decision, find_question
from agent.runs.needs import other_needs
from agent.runs.waiting_questions import waiting_questions
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace


class Approval(ResultValue, frozen=True):
    """What needs a yes. `kind` is call, skill_review, skill_offer, arrived_note, arrived_files, remote, job, rule,
    mutation or own_file; a call has a `tool` and the exact `call`, the others the `name` of what they are about, some
    with the `question` in the person's language. `code` names it in short."""

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


class ListedApprovals(ResultValue, frozen=True):
    """All that waits for a yes on this machine, the oldest first. `stopped` says that the schedule of the vault is
    stopped, so that no job and no task begins, and what starts it; null while it runs."""

    approvals: list[Approval]
    stopped: str | None


class WholeApproval(Approval, frozen=True, kw_only=True):
    """What is asked in full: a call with the changes that it would make, or the note about a skill or arrival."""

    text: str


class QuestionView(ResultValue, frozen=True):
    """A question of the agent; `options` are those that it offers, and other words are an answer, too."""

    id: str
    path: str
    question: str
    options: list[str]
    run: str
    expires: str | None
    urgency: str | None
    code: str | None = None


class ListedQuestions(ResultValue, frozen=True):
    """The questions that wait for an answer."""

    questions: list[QuestionView]


class OtherNeed(ResultValue, frozen=True):
    """What no answer settles. `kind` is request, duty, stopped or reminder; `command` is what helps."""

    kind: str
    title: str
    path: str | None
    at: str | None
    command: str | None


class ListedNeeds(ResultValue, frozen=True):
    """All that waits for the person: what needs a yes, the oldest first, questions, and `others`: a request without an
    answer, a duty or job that failed, a reminder that was not heard. `stopped` says that the schedule
    of the vault is stopped; null while it runs."""

    approvals: list[Approval]
    questions: list[QuestionView]
    others: list[OtherNeed]
    stopped: str | None


A = TypeVar("A", bound=Approval)
Q = TypeVar("Q", bound=QuestionView)


def list_approvals(workspace: Workspace) -> ListedApprovals:
    """What waits for a yes."""
    waiting = pending_decisions(workspace)
    codes = codes_by_path(workspace.vault) if waiting else {}
    found = [approval(Approval, each, code=codes.get(each.path)) for each in waiting]
    return ListedApprovals.of(approvals=found, stopped=schedule_switch(workspace).line)


def show_approval(workspace: Workspace, name: str) -> WholeApproval:
    """One of them in full."""
    asked = find_decision(workspace, name)
    return approval(WholeApproval, asked, text=decision_text(workspace, asked))


def approval(kind: type[A], asked: Proposal, **more: object) -> A:
    """What needs a yes, with what more is known of it."""
    if asked.kind == "call":
        about: dict[str, object] = {"tool": asked.name, "call": asked.shown, "name": None, "question": None}
    else:
        about = {"call": None, "run": None, "session": None}
    return kind.of(asked, **{**about, **more})


def decide(workspace: Workspace, asked: Proposal, yes: bool, reason: str) -> Approval:
    """Say yes or no: once, to exactly what was shown."""
    return approval(Approval, decide_proposal(workspace, asked, yes, reason))


def list_needs(workspace: Workspace) -> ListedNeeds:
    """All that waits for the person."""
    found = list_approvals(workspace)
    others = [OtherNeed.of(each) for each in other_needs(workspace)]
    return ListedNeeds(found.approvals, list_questions(workspace).questions, others, found.stopped)


def find_need(workspace: Workspace, name: str) -> Proposal | Question:
    """What waits under this name, code, note, id or end of an id, whether it wants a yes or an answer.

    Raises `UserError` if there is nothing or more than one.
    """
    try:
        return find_question(workspace, name)
    except Unknown:
        return find_decision(workspace, name)


def yes_or_no(words: str) -> tuple[bool, str]:
    """A yes or a no in the words of a person, and the reason behind it; raises `UserError` for other words."""
    found = parse_yes_or_no(words)
    if found is None:
        raise UserError("{words} is neither yes nor no", hint="vault-agent needs answer NAME yes", words=words)
    return found.yes, found.rest


def list_questions(workspace: Workspace) -> ListedQuestions:
    """The questions that wait."""
    waiting = waiting_questions(workspace)
    codes = codes_by_path(workspace.vault) if waiting else {}
    return ListedQuestions([question_view(QuestionView, each, code=codes.get(each.path)) for each in waiting])


def question_view(kind: type[Q], question: Question, **more: object) -> Q:
    """A question, with what more is known of it."""
    return kind.of(question, question=question.text, **more)
