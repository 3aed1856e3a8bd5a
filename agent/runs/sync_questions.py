"""Questions of sync in `questions/`: what becomes of a remote that waits, and which version of a note stays.

Each is asked once for the same matter, as a note with boxes and a record outside the vault. The answer counts only if
the person has given it here or by a remote where only they write, and only for the commits that it was asked about. A
question whose matter is over is closed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import get_args

from agent.asking.answers import post
from agent.asking.proposal import ChoiceKind, Proposal
from agent.asking.questions.question import Question, noted_questions, without_boxes
from agent.asking.records import proposals_of, records_of, save
from agent.dataclass import dataclass
from agent.errors import BadNote, UserError
from agent.markdown import blocks, tasks
from agent.markdown.blocks import format_fenced
from agent.markdown.checkbox_decision import question_part
from agent.markdown.note import Note
from agent.markdown.title import clipped
from agent.markdown.yaml_write import Value
from agent.memory.daily import inert
from agent.memory.entry import slug
from agent.texts import Language, text
from agent.vault.change import Stamp
from agent.vault.folders import QUESTIONS
from agent.vault.provenance.remotes import plain_address
from agent.vault.store import Vault
from agent.vault.sync.permission import RemoteChoice, RemotePermission
from agent.vault.sync.resolve import ConflictedNote, ConflictSide, conflicted_note, conflicted_notes, resolve
from agent.vault.sync.state import SyncedRemote, Wait, WaitKind, drop_unasked, sync_state, unasked_conflicts
from agent.vault.worktree.paths import is_note
from agent.workspace.workspace import Workspace

_KINDS: tuple[ChoiceKind, ...] = get_args(ChoiceKind)
_STAMP = Stamp("agent", tool="sync_ask")
_SHOWN = 20
_LONGEST = 4_000
"""The most characters of each version that a question shows."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A permission of a person for one remote."""

    remote: str
    permission: RemotePermission


def ask_about_remotes(workspace: Workspace) -> tuple[str, ...]:
    """Ask about each remote that waits for the person; returns the notes that ask."""
    found = (each for each in sync_state(workspace.vault).remotes.values() if each.wait is not None)
    made = (_remote_question(workspace, each, each.wait) for each in found if each.wait is not None)
    return tuple(_ask(workspace, question, body, sources) for question, body, sources in made if question.choices)


def ask_about_conflicts(workspace: Workspace) -> tuple[str, ...]:
    """Ask which version stays of each note that rounds have left in conflict; returns the notes that ask."""
    vault, asked = workspace.vault, []
    for left in unasked_conflicts(vault).all():
        try:
            conflict = conflicted_note(vault, left.path)
        except UserError:
            pass  # resolved meanwhile
        else:
            asked.append(_ask(workspace, *_conflict_question(workspace, conflict)))
        drop_unasked(vault, left.path)
    return tuple(filter(None, asked))


def adopt_questions(workspace: Workspace) -> None:
    """Take over the questions about conflicts that another machine has asked and that arrived as notes.

    Only a note that says word for word what this machine would ask about a conflict that it has, too: then the person
    can settle it on either machine.
    """
    vault, known = workspace.vault, asked_by_sync(workspace)
    arrived = [each.path for each in noted_questions(workspace.vault) if each.path not in known]
    notes = {path: Note.parse(vault.read(path) or b"") for path in arrived}
    for conflict in conflicted_notes(vault) if notes else ():
        question, body, _ = _conflict_question(workspace, conflict)
        before = records_of(vault, "conflict").get(question.key)
        same = [path for path, note in notes.items() if note.body.strip() == body.strip()]
        if same and (before is None or before.subject != question.subject):
            save(vault, replace(question, path=same[0], id=notes[same[0]].string("id") or ""))


def open_sync_questions(workspace: Workspace) -> tuple[Question, ...]:
    """The questions without an answer whose matter still stands, sorted by path."""
    vault = workspace.vault
    waiting = [each for each in proposals_of(vault, *_KINDS) if each.status == "pending" and _is_current(vault, each)]
    found = [_as_question(vault, each) for each in sorted(waiting, key=lambda each: each.path)]
    return tuple(each for each in found if not each.answer)


def asked_by_sync(workspace: Workspace) -> frozenset[str]:
    """The notes of all questions of sync that are known here, also of those whose matter is over."""
    return frozenset(each.path for each in proposals_of(workspace.vault, *_KINDS))


def asked_conflict(workspace: Workspace, path: str) -> ConflictedNote | None:
    """The versions between which the question in the note at `path` lets choose; None if it is about something else."""
    asked = next((each for each in proposals_of(workspace.vault, *_KINDS) if each.path == path), None)
    if asked is None or asked.kind != "conflict":
        return None
    try:
        return conflicted_note(workspace.vault, asked.name)
    except UserError:
        return None


def answer_sync_question(workspace: Workspace, question: Question, words: str) -> bool:
    """Tick the box with these words in the person's name; True if the answer is carried out by now, False if the next
    round of sync does it.

    Raises `UserError` for words that are no box of the note, and for a note that is gone.
    """
    path, vault = question.path, workspace.vault
    data = vault.read(path)
    if words not in question.options or data is None or f"- [ ] {words}".encode() not in data:
        hint = "vault-agent needs lists the answers with their numbers"
        raise UserError("{words} is none of the answers in {path}", hint=hint, words=words, path=path)
    above, box, below = data.partition(f"- [ ] {words}".encode())
    with vault.transaction(f"question(answer): {path}", Stamp("human")) as change:
        change.edit(path, data, above + box.replace(b"[ ]", b"[x]", 1) + below)
    if not change.outcome.queued:
        settle_questions(workspace)
    found = next(each for each in proposals_of(vault, *_KINDS) if each.path == path)
    return found.status != "pending" and found.kind == "conflict"


def _as_question(vault: Vault, asked: Proposal) -> Question:
    note = Note.parse(vault.own_version(asked.path) or b"")
    above = question_part(note.body.replace("\r\n", "\n"))
    return Question(asked.id, asked.path, without_boxes(above), tuple(asked.choices), "", None, _answer(vault, asked))


def settle_questions(workspace: Workspace) -> tuple[Allowed, ...]:
    """Carry out the answers about notes, close what is over, and return what is allowed for remotes that still wait."""
    vault, language = workspace.vault, workspace.settings.vault.language
    for question in [each for each in proposals_of(vault, *_KINDS) if each.status == "pending"]:
        if not _is_current(vault, question):
            _close(vault, replace(question, status="outdated"), text("sync_question.over", language))
        elif meaning := _answer(vault, question):
            if question.kind == "conflict":
                note, side = conflicted_note(vault, question.name), ConflictSide(meaning)
                resolve(vault, note, side, text("conflict.other", language))
            _close(vault, replace(question, status="approved", reason=meaning), text("sync_question.result", language))
    answered = [each for each in proposals_of(vault, "remote_wait") if each.status == "approved"]
    current = [each for each in answered if _is_current(vault, each)]  # again, if the round after the answer has failed
    return tuple(Allowed(each.name, permission) for each in current for permission in _permission(each))


def _draft(
    vault: Vault, kind: ChoiceKind, name: str, matter: str, choices: Mapping[str, str], theirs: str = ""
) -> Proposal:
    """A question without its note. `matter` says what exactly is asked about: another one is another question."""
    key = sha256(f"{kind.removesuffix('_wait')} {name}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    facts, now = {"theirs": theirs}, vault.clock.now().replace(microsecond=0)
    return Proposal(kind, name, "", "", now, key=key, subject=matter, facts=facts, choices=choices, status="pending")


def _remote_question(workspace: Workspace, remote: SyncedRemote, wait: Wait) -> tuple[Proposal, str, tuple[str, ...]]:
    language = workspace.settings.vault.language
    count, name = len(wait.paths), remote.name
    choices: dict[str, str] = {}
    match wait.kind:
        case WaitKind.REWRITTEN:
            title = text("sync_question.rewritten", language, name=name)
            why = text("sync_question.rewritten_why", language, name=name, count=count)
            choices = _boxes(
                language, keep="sync_question.keep", take="sync_question.take", later="sync_question.later"
            )
        case WaitKind.INCOMING:
            title = text("sync_question.incoming", language, count=count)
            why = text("sync_question.incoming_why", language, name=name)
            choices = _boxes(language, yes="sync_question.allow", later="sync_question.forbid")
        case WaitKind.OUTGOING:
            title = text("sync_question.outgoing", language, name=name, count=count)
            why = text("sync_question.outgoing_why", language)
            choices = _boxes(language, yes="sync_question.allow", later="sync_question.forbid")
        case WaitKind.UNRELATED:
            title = why = ""
    named = workspace.vault.private_notes.left_of(wait.paths)[:_SHOWN]
    names = "\n".join([*named, *(["…"] if count > len(named) else [])])
    notes = f"## {text('sync_question.notes', language)}\n\n{format_fenced(names)}"
    matter = _matter(wait)
    answers = workspace.vault.provenance.answers.load()
    sources = () if answers.is_mine(plain_address(remote.address)) else (name,)
    question = _draft(workspace.vault, "remote_wait", name, matter, choices, wait.theirs)
    return question, _body(title, why, choices, notes), sources


def _matter(wait: Wait) -> str:
    """The subject of a question about a remote: another commit there, or other notes, are another matter."""
    paths = sha256("\0".join(sorted(wait.paths)).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{wait.kind} {wait.theirs} {paths}"


def _conflict_question(workspace: Workspace, conflict: ConflictedNote) -> tuple[Proposal, str, tuple[str, ...]]:
    vault, language = workspace.vault, workspace.settings.vault.language
    copies = [*conflict.copies]
    choices = _boxes(language, ours="sync_question.this", theirs="sync_question.that", both="sync_question.both")
    impossible = {"theirs"} if len(copies) > 1 else set() if is_note(conflict.path) else {"both"}
    choices = {box: meaning for box, meaning in choices.items() if meaning not in impossible}
    title = text("sync_question.conflict", language, note=inert(conflict.path))
    links = text("answers.comma", language).join(f"[[{copy.removesuffix('.md')}]]" for copy in copies)
    why = text("sync_question.conflict_why", language, copies=links)
    parts = [f"## {text('sync_question.here', language)}", format_fenced(_short(conflict.data))]
    for data in conflict.copies.values() if is_note(conflict.path) else ():
        parts += [f"## {text('conflict.other', language)}", format_fenced(_short(data))]
    sources = (vault.provenance.strangers(copy, data) for copy, data in conflict.copies.items())
    question = _draft(vault, "conflict", conflict.path, " ".join(copies), choices)
    return (
        question,
        _body(title, why, choices, "\n\n".join(parts if is_note(conflict.path) else ())),
        tuple(filter(None, sources)),
    )


def _short(data: bytes) -> str:
    return clipped(Note.parse(data).body.strip(), _LONGEST)


def _boxes(language: Language, **meanings: str) -> dict[str, str]:
    return {text(key, language): meaning for meaning, key in meanings.items()}


def _body(title: str, why: str, choices: Mapping[str, str], details: str) -> str:
    boxes = "\n".join(f"- [ ] {box}" for box in choices)
    return f"# {title}\n\n{why}\n\n{boxes}\n\n{details}\n"


def _ask(workspace: Workspace, question: Proposal, body: str, sources: tuple[str, ...]) -> str:
    """Write the question's note unless this was asked already; returns its path, empty if it was."""
    vault, now = workspace.vault, workspace.clock.now().replace(microsecond=0)
    before = records_of(vault, question.kind).get(question.key)
    if before is not None and before.subject == question.subject:
        return ""
    if before is not None and before.status == "pending":
        _close(vault, replace(before, status="outdated"), text("sync_question.over", workspace.settings.vault.language))
    path, id = _path(vault, f"{now:%Y-%m-%d}-{slug(question.name) or 'sync'}"), workspace.clock.new_id()
    header: dict[str, Value] = {"id": id, "type": "question", "created": now, "status": "open"}
    if sources:
        header["untrusted"] = [" ".join(each.split())[:200] for each in sources]
    save(vault, replace(question, path=path, id=id))
    post(vault, {path: Note.compose(header, body).data}, f"sync(ask): {question.name}", _STAMP)
    return path


def _path(vault: Vault, name: str) -> str:
    paths = (vault.home.at(f"{QUESTIONS}{name}{f'-{number}' if number else ''}.md") for number in range(1000))
    return next(path for path in paths if vault.read(path) is None)


def _is_current(vault: Vault, question: Proposal) -> bool:
    """True while the matter of a question is as it was asked."""
    if question.kind == "remote_wait":
        remote = sync_state(vault).remotes.get(question.name)
        return remote is not None and remote.wait is not None and _matter(remote.wait) == question.subject
    try:
        return " ".join(conflicted_note(vault, question.name).copies) == question.subject
    except UserError:
        return False


def _answer(vault: Vault, question: Proposal) -> str:
    """The meaning of the one box that the person has ticked; empty without one, or with several."""
    own = vault.own_version(question.path)
    note = Note.parse(own or b"")
    if note.string("id") != question.id:
        return ""
    above = question_part(note.body.replace("\r\n", "\n"))  # what is shown below is not the person's
    ticked = [each.text for each in tasks.find_tasks(blocks.parse_body(above)) if each.done]
    found = [meaning for box, meaning in question.choices.items() if box in ticked]
    return found[0] if len(found) == 1 else ""


def _permission(question: Proposal) -> Iterator[RemotePermission]:
    match question.reason:
        case "keep":
            yield RemotePermission(RemoteChoice.KEEP, theirs=question.facts["theirs"])
        case "take":
            yield RemotePermission(RemoteChoice.TAKE, theirs=question.facts["theirs"])
        case "yes":
            yield RemotePermission(mass=True, theirs=question.facts["theirs"])


def _close(vault: Vault, question: Proposal, result: str) -> None:
    """Write how a question has ended, into its record and its note."""
    save(vault, question)
    data, status = vault.read(question.path), "answered" if question.status == "approved" else "over"
    if data is None:
        return
    try:
        note = Note.parse(data)
        if note.string("status") != "open":
            return  # another machine has closed it
        title, _, rest = note.body.lstrip("\n").partition("\n")
        closed = note.with_body(f"\n{title}\n\n→ {result}\n{rest}").with_key("status", status)
    except BadNote:
        return
    post(vault, {question.path: closed.data}, f"sync({status}): {question.name}", _STAMP)
