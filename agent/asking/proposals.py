"""Proposals are made, answered by a ticked box or a command, and what was proposed is written after a yes.

An answer counts only with the record of its question on this machine: a ticked note from a pull has none. A yes writes
exactly the texts that the note shows, and nothing if one of them, or a note that it would change, has changed since.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.asking.answers import answer_in, free_path
from agent.asking.note import compose_proposal, kind_of, shows
from agent.asking.proposal import (
    Proposal,
    ProposalDraft,
    ProposalKind,
    ProposalStatus,
    ProposedNote,
    proposal_records,
)
from agent.errors import AgentError, BadNote, UserError
from agent.markdown.checkbox_decision import parse_reason, settled_note
from agent.markdown.note import Note
from agent.markdown.title import short_title
from agent.texts import Language
from agent.vault.change import Request, Stamp
from agent.vault.folders import APPROVALS
from agent.vault.store import Vault

_TOOL = "proposals"


def propose(vault: Vault, draft: ProposalDraft, language: Language, also: Sequence[Request] = ()) -> Proposal:
    """Write the note that asks, and what is `also` to be written, in one commit; returns the proposal.

    Raises `UserError` if a note that it would change is not as the draft says, and `SecretFound` for a text with a
    secret.
    """
    moved = next((note.path for note in draft.notes if _now(vault, note.path) != note.base), None)
    if moved is not None:
        raise UserError("{path} has just changed; it is proposed again later", path=moved)
    records, now, id = proposal_records(vault), vault.clock.now().replace(microsecond=0), vault.clock.new_id()
    name = short_title(draft.name).replace(" ", "-").casefold() or id[-6:]
    path = free_path(vault, f"{now:%Y-%m-%d}-{draft.kind}-{name}", {each.path for each in records.all()})
    made = Proposal(draft.kind, draft.name, draft.question, draft.notes, path, id, now, dict(draft.facts), draft.actor)
    records.put(id, made)  # before and after the note, so that a crash leaves no note without a record
    try:
        with vault.transaction(f"{draft.kind}(propose): {draft.name}", Stamp(draft.actor, tool=_TOOL)) as change:
            change.create(path, compose_proposal(draft, id, now, language))
            change.requests += also
    except AgentError:
        records.drop(id)
        raise
    return _put(vault, replace(made, status="pending"))


def pending_proposals(vault: Vault, kind: ProposalKind | None = None) -> tuple[Proposal, ...]:
    """The proposals (of one kind, or all) that nobody has decided yet, by a tick or a command; oldest first."""
    found = (each for each in _undecided(vault) if kind is None or each.kind == kind)
    return tuple(each for each in found if _answer(vault, each) is None)


def answered_proposals(vault: Vault, kind: ProposalKind) -> tuple[Proposal, ...]:
    """The decided proposals upon which their kind has not acted yet, oldest first."""
    decided = ("approved", "rejected", "outdated")
    found = (each for each in proposal_records(vault).all() if each.kind == kind and not each.is_taken)
    return tuple(each for each in found if each.status in decided)


def mark_taken(vault: Vault, proposal: Proposal) -> None:
    """Note that a kind has acted upon the answer; durable when this returns."""
    _put(vault, replace(proposal, is_taken=True))


def refused_facts(vault: Vault, kind: ProposalKind) -> Iterator[dict[str, str]]:
    """The facts of the proposals of a kind that the person has refused, on this machine or in another clone."""
    for each in proposal_records(vault).all():
        if each.kind == kind and each.status == "rejected":
            yield dict(each.facts)
    for path in vault.note_paths(vault.home.at(APPROVALS)):
        note = Note.parse(vault.own_version(path) or b"")
        if kind_of(note) == kind and note.string("status") == "rejected":
            yield {key: str(value) for key, value in note.header.items() if isinstance(value, str)}


def settle_proposals(vault: Vault) -> tuple[Proposal, ...]:
    """Carry out the answers that were given in the notes, each in one commit; returns what is decided now.

    A deleted note is a no. What would change a note that has changed since is outdated. Nothing is decided while
    changes wait for the repository.
    """
    if vault.queued:
        return ()
    return tuple(done for each in tuple(_undecided(vault)) if (done := _settle(vault, each)) is not None)


def _undecided(vault: Vault) -> Iterator[Proposal]:
    """The proposals without a recorded answer, also one whose note was written just before a crash."""
    for each in proposal_records(vault).all():
        if each.status == "pending" or (each.status == "asking" and vault.read(each.path) is not None):
            yield each


def _answer(vault: Vault, proposal: Proposal) -> bool | None:
    data = vault.own_version(proposal.path)
    if data is None or Note.parse(data).id != proposal.id:
        return None
    return answer_in(data)


def _settle(vault: Vault, proposal: Proposal) -> Proposal | None:
    """The proposal with its answer, which is carried out; None while there is none."""
    data = vault.read(proposal.path)
    if data is None:
        return _end(vault, replace(proposal, status="rejected", reason="the note that asked was removed"))
    answer, is_written = _answer(vault, proposal), _is_written(vault, proposal.notes)
    moved = next((note.path for note in proposal.notes if _now(vault, note.path) != note.base), None)
    status: ProposalStatus
    if answer is False:
        status, reason = "rejected", parse_reason(vault.own_version(proposal.path) or b"")
    elif is_written and answer:  # a crash came between the commit and the record
        status, reason = "approved", ""
    elif moved is not None:
        status, reason = "outdated", f"{moved} has changed since"
    elif answer is None:
        return None
    elif not shows(data, proposal.notes):
        status, reason = "outdated", "the text in the note was changed"
    else:
        status, reason = "approved", ""
    return _carry_out(vault, replace(proposal, status=status, reason=reason), data)


def _carry_out(vault: Vault, decided: Proposal, data: bytes) -> Proposal:
    """Write what was approved, and the answer into the note, in one commit; then the record."""
    subject = f"{decided.kind}({decided.status}): {decided.name}"
    with vault.transaction(subject, Stamp(decided.actor, tool=_TOOL), body=f"Decided in {decided.path}.") as change:
        if decided.status == "approved" and not _is_written(vault, decided.notes):
            for note in decided.notes:
                change.write(note.path, None if note.base is None else note.base.encode(), note.text.encode())
        after = _settled(vault, decided, data)
        if after != data:
            change.edit(decided.path, data, after)
    return _end(vault, decided)


def _settled(vault: Vault, decided: Proposal, data: bytes) -> bytes:
    yes = None if decided.status == "outdated" else decided.status == "approved"
    try:
        return settled_note(data, yes, decided.status, vault.clock.now(), decided.reason).data
    except BadNote:
        return data  # its header was broken by hand: the answer is only in the record


def _is_written(vault: Vault, notes: tuple[ProposedNote, ...]) -> bool:
    return bool(notes) and all(_now(vault, note.path) == note.text for note in notes)


def _now(vault: Vault, path: str) -> str | None:
    data = vault.read(path)
    return None if data is None else data.decode("utf-8", "replace")


def _end(vault: Vault, decided: Proposal) -> Proposal:
    """Record a decided proposal, without its texts: nothing needs them any more, and they may be forgotten."""
    _put(vault, replace(decided, notes=tuple(ProposedNote(note.path, "") for note in decided.notes)))
    return decided


def _put(vault: Vault, proposal: Proposal) -> Proposal:
    proposal_records(vault).put(proposal.id, proposal)
    return proposal
