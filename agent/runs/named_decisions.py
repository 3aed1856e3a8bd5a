"""Finds what waits for the person by a name as people type it: an id or its end, a short code, a note; and answers."""

from pathlib import PurePosixPath

from agent.asking.codes import find_code
from agent.asking.note import shows
from agent.asking.proposal import Proposal
from agent.asking.questions.question import Question, write_answer
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.markdown.note import Note
from agent.runs.decisions import Resumer, approvals
from agent.runs.kinds import pending_decisions
from agent.runs.short_ids import SHORT_ID, NotFound, find_by_id, short_id
from agent.runs.sync_questions import adopt_questions, answer_sync_question, open_sync_questions
from agent.runs.waiting_questions import waiting_questions
from agent.texts import Language, either, text
from agent.workspace.workspace import Workspace, is_watched

_NO_DECISION = NotFound(
    "nothing that waits here has the name or id {name}",
    "several approvals end in {name}",
    "vault-agent needs lists what waits",
)
_NO_QUESTION = NotFound(
    "nothing waits here for an answer to a question with the id {name}",
    "several questions end in {name}",
    "vault-agent needs lists them",
)


@dataclass(frozen=True, slots=True)
class NamedAnswer:
    """An answer that was written: `words` is the option or the text, `goes_on` who acts on it now. `is_of_run`: a run
    waits for it; `is_of_sync`: sync asked."""

    words: str
    goes_on: Resumer
    is_of_run: bool = False
    is_of_sync: bool = False


def find_decision(workspace: Workspace, name: str) -> Proposal:
    """The proposal that waits under this name, note, id, or end of an id; raises `UserError` if there is nothing or
    more than one.

    A call is found by its id or note also when it is decided, so that its status can be told.
    """
    known = approvals(workspace).find(name)
    if known is not None:
        return known
    waiting = pending_decisions(workspace)
    named = [each for each in waiting if name in {name_of(each), each.path, PurePosixPath(each.path).stem}]
    if not named and (coded := find_code(workspace.vault, name)) is not None:
        named = [each for each in waiting if each.path == coded.path]
    if len(named) > 1:
        raise UserError(
            "several wait under {name}",
            hint="name the note: {paths}",
            name=name,
            paths=either([each.path for each in named]),
        )
    return named[0] if named else find_by_id(name, waiting, _NO_DECISION)


def name_of(asked: Proposal) -> str:
    """The name by which lists and commands call it."""
    return short_id(asked) if asked.kind == "call" else asked.name


def decision_text(workspace: Workspace, asked: Proposal) -> str:
    """The whole question: a call with the changes that it would make, or the note about a skill or arrival."""
    vault = workspace.vault
    if asked.kind == "call":
        return approval_text(asked, vault.read(asked.path) or b"", workspace.settings.vault.language)
    return Note.parse(vault.own_version(asked.path) or b"").body.strip("\n")


def approval_text(asked: Proposal, data: bytes, language: Language) -> str:
    """The call and all its changes, from the program's own record; `data` is the content of its note."""
    other = "" if shows(data, asked) else text("decide.changed_note", language)
    lines = [f"{asked.question}  ({asked.path})", asked.why, other, asked.change, asked.shown]
    return "\n".join(line for line in lines if line)


def find_question(workspace: Workspace, name: str) -> Question:
    """The open question with this id, end of an id, note or name of a note; raises `UserError` if there is none, or
    more than one."""
    waiting = waiting_questions(workspace)
    coded = find_code(workspace.vault, name)
    meant = {name, coded.path if coded else name}
    there = next((each for each in waiting if meant & {each.path, PurePosixPath(each.path).stem}), None)
    return there or find_by_id(name, waiting, _NO_QUESTION)


def answer_question(workspace: Workspace, question: Question, answer: str) -> NamedAnswer:
    """Answer a question in its note: `answer` is one of its options, an option's number, or the person's own words."""
    number = int(answer) if answer.isdecimal() and len(answer) < SHORT_ID else 0
    words = question.options[number - 1] if 0 < number <= len(question.options) else answer
    if not question.run:
        adopt_questions(workspace)
    of_sync = next((each for each in open_sync_questions(workspace) if each.path == question.path), None)
    if of_sync is not None:
        is_done = answer_sync_question(workspace, of_sync, words)
        later = Resumer.DAEMON if is_watched(workspace) else Resumer.LATER
        return NamedAnswer(words, Resumer.HERE if is_done else later, is_of_sync=True)
    write_answer(workspace.vault, question, words, workspace.settings.vault.language)
    return NamedAnswer(words, Resumer.LATER, is_of_run=bool(question.run))
