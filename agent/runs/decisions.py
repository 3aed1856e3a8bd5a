"""Approvals and questions that wait for a person, and the runs that can resume after the decision.

A ticked box, a command and an answer in a chat have the same result: the decision is written in the note. The daemon
resumes the run if one is at work, else this process (`service`).
"""

from collections.abc import Callable
from enum import StrEnum

from agent.asking.answers import answer_in
from agent.asking.proposal import Proposal
from agent.asking.questions.notes import parse_answer
from agent.asking.questions.question import Question, read_question, write_answer
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.runs.registry import RunMark, run_registry
from agent.tools.approvals import Approvals
from agent.vault.folders import QUESTIONS
from agent.vault.history.versions import versions
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace, is_watched

_DECIDED = {"approved", "rejected", "outdated"}


@dataclass(frozen=True, slots=True)
class PersonDecision:
    """A person's decision about the note in which a run waits: `yes` to an approval, with their words as the reason, or
    their words as the answer to a question (`yes` is None then). `asked` is the approval's id, or the question's
    path."""

    asked: str
    yes: bool | None = None
    words: str = ""


def approvals(workspace: Workspace) -> Approvals:
    """The approvals of a vault."""
    vault, settings = workspace.vault, workspace.settings
    return Approvals(vault, vault.clock, settings.tools.approval_hours, settings.vault.language)


def open_questions(workspace: Workspace) -> tuple[Question, ...]:
    """The unanswered questions that runs on this machine wait for, sorted by path."""
    waiting = (mark.waits_for for mark in run_registry(workspace.vault).all() if not mark.parent)
    paths = sorted(path for path in waiting if workspace.vault.home.holds(path, QUESTIONS))
    found = (read_question(workspace.vault, path) for path in paths)
    return tuple(question for question in found if question is not None and not question.answer)


def arrived_decisions(workspace: Workspace) -> tuple[str, ...]:
    """The notes that this machine's runs wait for, and in which a decision arrived that does not count here: others
    may write where it came from."""
    vault = workspace.vault
    paths = [asked.path for asked in approvals(workspace).pending()]
    found = [path for path in paths if (data := vault.read(path)) is not None and answer_in(data) is not None]
    for question in open_questions(workspace):
        if parse_answer(vault.read(question.path) or b""):
            found.append(question.path)
    return tuple(found)


def record_decision(workspace: Workspace, decision: PersonDecision) -> None:
    """Write a decision into its note in the person's name; raises `UserError` for one that is not open any more."""
    if decision.yes is not None:
        approvals(workspace).decide(decision.asked, decision.yes, decision.words)
        return
    question = read_question(workspace.vault, decision.asked)
    if question is None:
        raise UserError("there is no question in {path} any more", hint="vault-agent needs", path=decision.asked)
    write_answer(workspace.vault, question, decision.words, workspace.settings.vault.language)


def ready(workspace: Workspace) -> tuple[RunMark, ...]:
    """The waiting runs of this machine whose person has decided or answered, and whose session's note is unchanged."""
    return tuple(mark for mark in run_registry(workspace.vault).waiting() if is_ready(workspace, mark))


def _is_answered(workspace: Workspace, mark: RunMark) -> bool:
    """True if the question of a waiting run has an answer, is expired or was thrown away."""
    question = read_question(workspace.vault, mark.waits_for)
    if question is None:
        return is_thrown_away(workspace.vault, mark.waits_for)
    return _is_of(mark, question.run) and bool(question.answer or _is_expired(workspace, question))


def is_ready(workspace: Workspace, mark: RunMark) -> bool:
    """True if a waiting run can resume: its person has decided, and its session's note is as this machine left it."""
    if workspace.vault.current_id(mark.session) != mark.content:
        return False  # the note was changed: such a run is resumed only by hand
    if workspace.vault.home.holds(mark.waits_for, QUESTIONS):
        return _is_answered(workspace, mark)
    known = approvals(workspace)
    approval = known.find(mark.waits_for)
    if approval is None or not _is_of(mark, approval.run) or approval.status not in _DECIDED:
        return False
    return not any(_is_of(mark, each.run) for each in known.pending())  # calls of one reply are asked about together


def ready_after(workspace: Workspace, path: str) -> RunMark | None:
    """The run that can resume now that the note at `path` is decided: it waited for that note, or for several."""
    asked = approvals(workspace).find(path)
    found = (mark for mark in ready(workspace) if mark.waits_for == path or (asked and _is_of(mark, asked.run)))
    return next(found, None)


def also_asked(workspace: Workspace, path: str) -> tuple[Proposal, ...]:
    """The other open approvals of the run that is asked about in the note at `path`."""
    known = approvals(workspace)
    asked = known.find(path)
    run = asked.run.partition(".")[0] if asked is not None else ""
    return tuple(each for each in known.pending() if run and each.run.partition(".")[0] == run and each.path != path)


def is_thrown_away(vault: Vault, path: str) -> bool:
    """True if the note at this path is gone, and the history knows it: an editor that saves may take it away for a
    moment."""
    head = vault.head
    if head is None or vault.read(path) is not None:
        return False
    (last,) = versions(vault, [(head, path)])
    return last is None and not vault.queued


def _is_expired(workspace: Workspace, question: Question) -> bool:
    """True if nobody answered in time: the run goes on without the answer."""
    return question.expires is not None and workspace.clock.now() >= question.expires


def _is_of(mark: RunMark, run: str) -> bool:
    """True if `run` is the run of this mark or one of its sub-runs."""
    return run.partition(".")[0] == mark.run


class Resumer(StrEnum):
    """The process that resumes a waiting run."""

    HERE = "here"
    DAEMON = "daemon"
    LATER = "later"
    NOBODY = "nobody"


def resumer_of(workspace: Workspace, path: str, here: Callable[[], bool]) -> tuple[Resumer, RunMark | None]:
    """The process that resumes the run that waited for the note at `path`, and its mark; `NOBODY` and None if no run
    can resume.

    `here` is called only if no daemon runs; it returns True if the run is to resume in this process.
    """
    mark = ready_after(workspace, path)
    if mark is None:
        return Resumer.NOBODY, None
    if is_watched(workspace):
        return Resumer.DAEMON, mark
    return (Resumer.HERE if here() else Resumer.LATER), mark
