"""Approvals and questions that wait for a person, and the runs that can resume after the decision.

A ticked box, a command and an answer in a chat have the same result: the decision is written in the note. Resuming runs
is left to `service` and `resumer`.
"""

from datetime import datetime
from pathlib import Path

from agent.asking.answers import answer_in
from agent.asking.questions.form import answer_heading, boxes_in, parse_answer, split_answer
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.markdown.note import Note
from agent.runs.registry import RunMark, run_registry
from agent.tools.approvals import Approvals
from agent.vault.change import Stamp
from agent.vault.folders import QUESTIONS
from agent.vault.history.versions import versions
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_DECIDED = {"approved", "rejected", "outdated"}


@dataclass(frozen=True, slots=True)
class GivenDecision:
    """What a person says to the note in which a run waits: `yes` to an approval, with their words as the reason, or
    their words as the answer to a question (`yes` is None then). `asked` is the approval's id, or the question's
    path."""

    asked: str
    yes: bool | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the agent in the note at `path`; `answer` is empty while there is none. `urgency` is `low`, `high`,
    or empty where something waits for it."""

    id: str
    path: str
    text: str
    options: tuple[str, ...]
    run: str
    expires: datetime | None
    answer: str
    urgency: str = ""


def approvals(workspace: Workspace) -> Approvals:
    """The approvals of a vault."""
    vault, settings = workspace.vault, workspace.settings
    return Approvals(vault, vault.clock, settings.tools.approval_hours, settings.vault.language)


def read_question(vault: Vault, path: str) -> Question | None:
    """The question in a note; None if the note holds none."""
    data = vault.read(path)
    note = Note.parse(data or b"")
    if data is None or note.type != "question":
        return None
    above, _ = split_answer(note.body.replace("\r\n", "\n"))
    boxes = [each.text for each in boxes_in(note.body)]
    expires = note.header.get("expires")
    return Question(
        note.id or "",
        path,
        without_boxes(above),
        tuple(boxes),
        note.string("run") or "",
        expires if isinstance(expires, datetime) else None,
        parse_answer(vault.own_version(path) or b""),
        note.string("urgency") or "",
    )


def without_boxes(body: str) -> str:
    """The text of a question's note without its heading's mark and its boxes."""
    text = "\n".join(line for line in body.splitlines() if not line.lstrip().startswith("- ["))
    return text.strip().removeprefix("# ")


def open_questions(workspace: Workspace) -> tuple[Question, ...]:
    """The unanswered questions that runs on this machine wait for, sorted by path."""
    waiting = (mark.waits_for for mark in run_registry(workspace.vault).all() if not mark.parent)
    paths = sorted(path for path in waiting if workspace.vault.home.holds(path, QUESTIONS))
    found = (read_question(workspace.vault, path) for path in paths)
    return tuple(question for question in found if question is not None and not question.answer)


def noted_questions(workspace: Workspace) -> tuple[Question, ...]:
    """The unanswered questions that no run waits for, such as one about the profile, sorted by path: who asked reads
    the answer in the note. A note that arrived from where others write asks nothing."""
    vault, found = workspace.vault, list[Question]()
    place = Path(vault.place.root, vault.home.at(QUESTIONS))
    for file in sorted(place.glob("*.md")) if place.is_dir() else ():
        path = file.relative_to(vault.place.root).as_posix()
        data = vault.own_version(path)
        if data is None or b"status: open" not in data:
            continue
        note = Note.parse(data)
        asked = read_question(vault, path) if note.string("status") == "open" and not note.string("run") else None
        if asked is not None and not asked.answer:
            found.append(asked)
    return tuple(found)


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


def answer(workspace: Workspace, question: Question, text: str) -> None:
    """Write an answer into the question's note in the person's name: a tick for an option, else text below it."""
    said, path = workspace.vault.masked(text.strip()), question.path
    if not said:
        raise UserError("the answer is empty", hint="vault-agent questions answer {id} TEXT", id=question.id)
    data = workspace.vault.read(path) or b""
    note = Note.parse(data)
    body = note.body
    box = f"- [ ] {said}"
    if said in question.options and f"\n{box}" in body:
        after = body.replace(f"\n{box}", f"\n- [x] {said}", 1)
    else:
        heading = f"\n\n{answer_heading(workspace.settings.vault.language)}\n" if split_answer(body)[1] is None else ""
        after = body.rstrip("\n") + heading + f"\n\n{said}\n"
    with workspace.vault.transaction(f"question(answer): {path}", Stamp("human")) as change:
        change.edit(path, data, note.with_body(after).data)


def record_decision(workspace: Workspace, given: GivenDecision) -> None:
    """Write a decision into its note in the person's name; raises `UserError` for one that is not open any more."""
    if given.yes is not None:
        approvals(workspace).decide(given.asked, given.yes, given.words)
        return
    question = read_question(workspace.vault, given.asked)
    if question is None:
        raise UserError("there is no question in {path} any more", hint="vault-agent questions", path=given.asked)
    answer(workspace, question, given.words)


def ready(workspace: Workspace) -> tuple[RunMark, ...]:
    """The waiting runs of this machine whose person has decided or answered, and whose session's note is unchanged."""
    return tuple(mark for mark in run_registry(workspace.vault).waiting() if is_ready(workspace, mark))


def is_ready(workspace: Workspace, mark: RunMark) -> bool:
    """True if a waiting run can resume: its person has decided, and its session's note is as this machine left it."""
    if workspace.vault.current_id(mark.session) != mark.content:
        return False  # the note was changed: such a run is resumed only by hand
    if workspace.vault.home.holds(mark.waits_for, QUESTIONS):
        question = read_question(workspace.vault, mark.waits_for)
        if question is None and is_thrown_away(workspace.vault, mark.waits_for):
            return True
        is_over = question is not None and (question.answer or _is_expired(workspace, question))
        return question is not None and _is_of(mark, question.run) and bool(is_over)
    approval = approvals(workspace).find(mark.waits_for)
    return approval is not None and _is_of(mark, approval.run) and approval.status in _DECIDED


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
