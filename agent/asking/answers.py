"""The law of a yes and a no: what counts as an answer, and how it is carried out, for every kind of question.

A note counts only with the record of its question, which is kept on this machine outside the vault: so a note that
arrives by sync, or that a tool writes, decides nothing, even if a box is ticked. A tick counts in the person's own hand
(`Vault.own_version`), above the first heading of second level, in the note with the id of the record, and once. A yes
is for exactly what the note shows: a note that shows something else approves nothing. Notes and records are written in
an order that distinguishes a crash from a changed decision.

What a kind asks about, whether that is still so, and what follows from the answer, is the matter of its room
(`Consequence`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Protocol, TypeAlias, get_args

from agent.asking.note import NOTHING, compose_proposal, kind_of, shows, word_of
from agent.asking.proposal import Proposal, ProposalDraft, ProposalKind, ProposalStatus, ProposedNote, TextKind
from agent.asking.records import drop, proposals_of, save
from agent.dataclass import dataclass
from agent.errors import AgentError, BadNote, UserError
from agent.markdown.checkbox_decision import parse_decision, parse_reason, question_part, settled_note, with_decision
from agent.markdown.list_row import has_row, with_row
from agent.markdown.note import Note
from agent.markdown.title import short_title
from agent.markdown.yaml_write import Value
from agent.texts import Language
from agent.vault.change import Create, Edit, Request, Stamp
from agent.vault.folders import APPROVALS
from agent.vault.store import Vault

Verdict: TypeAlias = tuple[ProposalStatus, str]
"""What becomes of a question, and why: the person's reason, or what has changed."""


class Consequence(Protocol):
    """What follows from the answers to one kind of question."""

    def judge(self, asked: Proposal, answer: bool | None) -> ProposalStatus | Verdict | None:
        """What becomes of a question with this answer in its note; None while it waits. The law may still turn a yes
        down."""

    def carry_out(self, decided: Proposal) -> Sequence[Request]:
        """Do what follows, which may have been done before a crash; returns what is written with the answer, in one
        commit."""


def free_path(vault: Vault, name: str, taken: Collection[str]) -> str:
    """A path in `approvals/` for a new note of this name, with a number if it has to be another one.

    `taken` are the paths of earlier questions: the note of one may wait to be written.
    """
    numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
    paths = (vault.home.at(f"{APPROVALS}{each}.md") for each in numbered)
    return next(path for path in paths if path not in taken and vault.read(path) is None)


def post(vault: Vault, notes: Mapping[str, bytes], subject: str, stamp: Stamp) -> None:
    """Write the notes, given by path, in one commit; existing ones are replaced."""
    with vault.transaction(subject, stamp) as change:
        for path, data in notes.items():
            change.write(path, vault.read(path), data)


def answer_in(data: bytes) -> bool | None:
    """True for a tick at approve, False for a tick at reject (or at both), None for no tick.

    Only the boxes above the first second-level heading count: below it stands the text that the question is about.
    """
    return parse_decision(question_part(Note.parse(data).body.replace("\r\n", "\n")))


def answer_to(vault: Vault, asked: Proposal) -> bool | None:
    """The person's answer in the note of a question; None without one that counts."""
    data = vault.own_version(asked.path)
    if data is None or asked.id not in (asked.path, Note.parse(data).id):  # by its path alone: it has no id
        return None
    return answer_in(data)


def undecided(vault: Vault, *kinds: ProposalKind) -> Iterator[Proposal]:
    """The questions without a recorded answer, also one whose note was written just before a crash."""
    for each in proposals_of(vault, *kinds):
        if each.status == "pending" or (each.status == "asking" and vault.read(each.path) is not None):
            yield each


def unanswered(vault: Vault, *kinds: ProposalKind) -> tuple[Proposal, ...]:
    """The questions that nobody has decided yet, by a tick or a command."""
    return tuple(each for each in undecided(vault, *kinds) if answer_to(vault, each) is None)


def settle(vault: Vault, kinds: Sequence[ProposalKind], consequence: Consequence, stamp: Stamp) -> tuple[Proposal, ...]:
    """Carry out the answers to these kinds of questions, each in one commit; returns what is decided now.

    The commit is in the name of who asked, unless `stamp` is a person's. Nothing is decided while changes wait for the
    repository.
    """
    if vault.queued:
        return ()
    done = []
    for asked in tuple(undecided(vault, *kinds)):
        verdict = consequence.judge(asked, answer_to(vault, asked))
        if verdict is not None:
            status, reason = verdict if isinstance(verdict, tuple) else (verdict, "")
            done.append(_decide(vault, replace(asked, status=status, reason=reason), consequence, stamp))
    return tuple(done)


def _decide(vault: Vault, decided: Proposal, consequence: Consequence, stamp: Stamp) -> Proposal:
    """Do what follows from an answer, write it into the note, in one commit, then into the record."""
    data = vault.read(decided.path)
    if data is not None:
        if decided.status == "approved" and answer_to(vault, decided) and not shows(data, decided):
            decided = replace(decided, status="outdated", reason="the text in the note was changed")
        elif decided.status == "rejected" and not decided.reason:
            decided = replace(decided, reason=parse_reason(vault.own_version(decided.path) or b""))
    requests = consequence.carry_out(decided)
    subject = f"{decided.kind.replace('_', '-')}({decided.status}): {decided.name}"
    stamp = replace(stamp, actor=decided.actor) if stamp.actor == "agent" else stamp
    with vault.transaction(subject, stamp, body=f"Decided in {decided.path}.") as change:
        change.requests += requests
        if data is not None and (after := _settled(vault, decided, data)) != data:
            change.edit(decided.path, data, after)
    # Nothing needs the texts any more, and they may be forgotten.
    save(vault, replace(decided, notes=tuple(ProposedNote(each.path, "") for each in decided.notes)))
    return decided


def _settled(vault: Vault, decided: Proposal, data: bytes) -> bytes:
    """The note with the decision; after a yes, which approves its text, without `untrusted`."""
    yes = None if decided.status in ("outdated", "expired") else decided.status == "approved"
    try:
        note = settled_note(data, yes, decided.status, vault.clock.now(), decided.reason)
        return (note.without_key("untrusted") if yes else note).data
    except BadNote:
        return data  # its header was broken by hand: the answer is only in the record


def tick(vault: Vault, asked: Proposal, yes: bool, reason: str = "") -> bool:
    """Tick a box in the person's name; False if that waits for the repository.

    Raises `UserError` for a note that is gone or has no box.
    """
    data, why = vault.read(asked.path), vault.masked(" ".join(reason.split()))[:500]
    after = with_decision(data, yes, why) if data is not None else None
    if data is None or after is None or answer_in(after) is not yes:
        hint = "vault-agent needs lists what waits"
        raise UserError("{path} has no box that can be ticked", hint=hint, path=asked.path)
    subject = f"approval({'approved' if yes else 'rejected'}): {vault.masked(asked.question or asked.name)}"
    with vault.transaction(subject, Stamp("human"), body=why) as change:
        change.edit(asked.path, data, after)
    return not change.outcome.queued


TEXT_KINDS: tuple[TextKind, ...] = get_args(TextKind)
_TOOL = "proposals"


@dataclass(frozen=True, slots=True)
class TextConsequence:
    """A yes writes the proposed texts; a deleted note is a no."""

    vault: Vault

    def judge(self, asked: Proposal, answer: bool | None) -> ProposalStatus | tuple[ProposalStatus, str] | None:
        """What becomes of the proposal."""
        if self.vault.read(asked.path) is None:
            return "rejected", "the note that asked was removed"
        if answer is False:
            return "rejected"
        if answer and is_written(self.vault, asked):  # a crash came between the commit and the record
            return "approved"
        moved = next((note.path for note in asked.notes if _now(self.vault, note) != note.base), None)
        if moved is not None:
            return "outdated", f"{moved} has changed since"
        return "approved" if answer else None

    def carry_out(self, decided: Proposal) -> Sequence[Request]:
        """The proposed texts, after a yes."""
        if decided.status != "approved" or is_written(self.vault, decided):
            return ()
        return [request_for(self.vault, each) for each in decided.notes]


def propose(
    vault: Vault,
    draft: ProposalDraft,
    language: Language,
    also: Sequence[Request] = (),
    *,
    tool: str = _TOOL,
    more: dict[str, Value] | None = None,
) -> Proposal:
    """Write the note that asks, and what is `also` to be written, in one commit; returns the proposal.

    `more` are keys of the note's header. Raises `UserError` if a note that it would change is not as the draft says,
    and `SecretFound` for a text with a secret.
    """
    moved = next((note.path for note in draft.notes if _now(vault, note) != note.base), None)
    if moved is not None:
        raise UserError("{path} has just changed; it is proposed again later", path=moved)
    now, id = vault.clock.now().replace(microsecond=0), vault.clock.new_id()
    word, name = word_of(draft.kind), short_title(draft.name).replace(" ", "-").casefold() or id[-6:]
    taken = {each.path for each in proposals_of(vault, draft.kind)}
    path = free_path(vault, f"{now:%Y-%m-%d}-{word}-{name}", taken)
    asked = Proposal(
        draft.kind, draft.name, path, id, now, draft.question, notes=draft.notes, facts=draft.facts, actor=draft.actor
    )
    save(vault, asked)  # before and after the note, so that a crash leaves no note without a record
    try:
        with vault.transaction(f"{word}(propose): {draft.name}", Stamp(draft.actor, tool=tool)) as change:
            change.create(path, compose_proposal(draft, id, now, language, more or NOTHING))
            change.requests += also
    except AgentError:
        drop(vault, asked)
        raise
    return save(vault, replace(asked, status="pending"))


def pending_proposals(vault: Vault, *kinds: ProposalKind) -> tuple[Proposal, ...]:
    """The proposals of texts (of these kinds, or all) that nobody has decided yet; oldest first."""
    return unanswered(vault, *(kinds or TEXT_KINDS))


def answered_proposals(vault: Vault, kind: ProposalKind) -> tuple[Proposal, ...]:
    """The decided proposals upon which their kind has not acted yet, oldest first."""
    found = (each for each in proposals_of(vault, kind) if not each.is_taken)
    return tuple(each for each in found if each.status in ("approved", "rejected", "outdated"))


def mark_taken(vault: Vault, proposal: Proposal) -> None:
    """Note that a kind has acted upon the answer; durable when this returns."""
    save(vault, replace(proposal, is_taken=True))


def refused_facts(vault: Vault, kind: ProposalKind) -> Iterator[dict[str, str]]:
    """The facts of the proposals of a kind that the person has refused, on this machine or in another clone."""
    for each in proposals_of(vault, kind):
        if each.status == "rejected":
            yield dict(each.facts)
    for path in vault.note_paths(vault.home.at(APPROVALS)):
        note = Note.parse(vault.own_version(path) or b"")
        if kind_of(note) == word_of(kind) and note.string("status") == "rejected":
            yield {key: str(value) for key, value in note.header.items() if isinstance(value, str)}


def settle_proposals(vault: Vault) -> tuple[Proposal, ...]:
    """Carry out the answers that were given in the notes about texts; returns what is decided now."""
    return settle(vault, TEXT_KINDS, TextConsequence(vault), Stamp("agent", tool=_TOOL))


def is_written(vault: Vault, asked: Proposal) -> bool:
    """True if the proposed texts are in their notes."""
    return bool(asked.notes) and all(_now(vault, note) == note.text for note in asked.notes)


def _now(vault: Vault, note: ProposedNote) -> str | None:
    """The note, or its row, as it is now."""
    data = vault.read(note.path)
    if data is None or note.head is None:
        return None if data is None else data.decode("utf-8", "replace")
    return next((row for row in (note.text, note.base) if row is not None and has_row(data, row)), None)


def request_for(vault: Vault, note: ProposedNote) -> Request:
    """The request that writes a proposed note, or row."""
    data = vault.read(note.path)
    if note.head is None:
        after = note.text.encode()
        return Create(note.path, after) if note.base is None else Edit(note.path, note.base.encode(), after)
    if data is None:
        return Create(note.path, f"{note.head}{note.text}\n".encode())
    return Edit(note.path, data, with_row(data, note.base, note.text))
