"""What needs me: calls that wait for a yes, with their changes before it, questions, runs that wait, and what was to be
done at a time and is not."""

import re
from collections.abc import Mapping
from datetime import datetime

from agent.app.notice_ledger import open_ledger
from agent.asking.note import shows
from agent.asking.proposal import Proposal
from agent.asking.questions.question import Question
from agent.attention.receipts import unheard_reminders
from agent.dataclass import dataclass
from agent.deeds import decisions
from agent.errors import UserError
from agent.interfaces.http.pages.markdown import html_of
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.interfaces.http.pages.sync import version_patches
from agent.markdown.checkbox_decision import without_boxes
from agent.markdown.note import Note
from agent.runs.decisions import arrived_decisions
from agent.runs.job_upkeep import owed_now
from agent.runs.kinds import pending_decisions
from agent.runs.named_decisions import answer_question
from agent.runs.needs import needs_of, other_needs
from agent.runs.registry import run_registry
from agent.runs.sync_questions import asked_by_sync, asked_conflict
from agent.runs.waiting_questions import waiting_questions
from agent.texts import text
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace

_HEADING = re.compile(r"\A\s*# .+\n")


@dataclass(frozen=True, slots=True)
class _DecisionRow:
    """What waits for a yes or no. `content_id`: of what the person sees; `change` is a patch, `html` a note,
    `warning` says that the note shows something else than the program's own record."""

    decision: Proposal
    title: str
    content_id: str
    why: str = ""
    call: str = ""
    change: str = ""
    html: str = ""
    expires: datetime | None = None
    warning: str = ""


@dataclass(frozen=True, slots=True)
class _QuestionRow:
    """A question; `versions` are those of a note between which it lets choose, `is_open`: words are an answer, too."""

    question: Question
    html: str
    versions: Mapping[str, str]
    is_open: bool


@dataclass(frozen=True, slots=True)
class NeededRow:
    """What waits for the person, in a line: `address` is where it is decided."""

    title: str
    at: datetime | None
    address: str


def needed(request: PageRequest) -> tuple[list[NeededRow], int]:
    """All that waits for a decision or an answer, and what was to be done and is not, in a line each; and how many of
    them are decisions and answers (`waiting_count`)."""
    found = needs_of(request.workspace)
    places = {"yes": "/needs#asked-{}", "question": "/needs#question-{}"}
    rows = [NeededRow(each.title, each.at, places.get(each.kind, "/needs#owed").format(each.number)) for each in found]
    return rows, sum(each.kind in places for each in found)


def waiting_count(workspace: Workspace) -> int:
    """How many decisions and answers are waited for."""
    return len(pending_decisions(workspace)) + len(waiting_questions(workspace))


def show(request: PageRequest) -> Mapping[str, object]:
    """All that waits for the person, the oldest first."""
    workspace = request.workspace
    asked = [_decision_row(request, each) for each in pending_decisions(workspace)]
    questions = [_question_row(request, each) for each in waiting_questions(workspace)]
    marks = run_registry(workspace.vault)
    known = {each.decision.path for each in asked} | {each.question.path for each in questions}
    return {
        "asked": asked,
        "questions": questions,
        "held": [mark for mark in marks.waiting() if mark.waits_for not in known],
        "working": [mark for mark in marks.all() if marks.is_held(mark.id)],
        "owed": owed_now(workspace),
        "left": [each for each in other_needs(workspace) if each.kind in ("request", "stopped")],
        "unheard": unheard_reminders(open_ledger(workspace).all()),
        "arrived": arrived_decisions(workspace),
        "switch": schedule_switch(workspace),
        "waiting": len(asked) + len(questions),
    }


def _question_row(request: PageRequest, asked: Question) -> _QuestionRow:
    conflict = asked_conflict(request.workspace, asked.path)
    versions = version_patches(conflict) if conflict is not None else {}
    is_open = asked.path not in asked_by_sync(request.workspace)
    return _QuestionRow(asked, html_of(request, asked.path, asked.text), versions, is_open)


def _decision_row(request: PageRequest, decision: Proposal) -> _DecisionRow:
    vault = request.workspace.vault
    if decision.kind != "call":
        data = vault.own_version(decision.path) or b""
        body = _HEADING.sub("", without_boxes(Note.parse(data).body), count=1)  # its title is above it
        return _DecisionRow(
            decision, decision.question, vault.content_id(data), html=html_of(request, decision.path, body)
        )
    warning = ""
    if not shows(vault.read(decision.path) or b"", decision):
        warning = text("decide.changed_note", request.language)
    return _DecisionRow(decision, decision.question, decision.key, decision.why, decision.shown, decision.change, "",
                  decision.expires, warning)  # fmt: skip


def decide(request: PageRequest) -> Done:
    """Say yes or no; a person decides about what they have seen."""
    workspace, name, reason = request.workspace, request.needed("id"), request.field("reason")
    yes = request.needed("decision") == "yes"
    found = next((each for each in pending_decisions(workspace) if each.id == name), None)
    if found is None:
        raise UserError("that was decided already, or is not asked any more", hint="load the page again")
    if _decision_row(request, found).content_id != request.needed("shown"):
        raise UserError("{path} has changed since you looked", hint="look at it again", path=found.path)
    status = decisions.decide(workspace, found, yes, reason).status
    key = "later" if status == "pending" else "said_yes" if yes else "said_no"
    return Done(request.text(key, name=found.name))


def reply(request: PageRequest) -> Done:
    """Answer a question: with one of its options, or in other words."""
    workspace, name = request.workspace, request.needed("id")
    words = request.field("option") or request.needed("answer")
    found = next((each for each in waiting_questions(workspace) if name in {each.id, each.path}), None)
    if found is None:
        raise UserError("that was answered already, or is not asked any more", hint="load the page again")
    answer_question(workspace, found, words)
    return Done(request.text("answered"))


PAGE = Page("needs", "/needs", show, "n")
DEEDS = (Deed("/needs/decide", decide), Deed("/needs/answer", reply))
