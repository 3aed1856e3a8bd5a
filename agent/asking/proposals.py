"""Proposals of texts: what a yes writes, exactly as the note shows it, and nothing if a note that it would change has
changed since."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

from agent.asking.answers import free_path, settle, unanswered
from agent.asking.note import NOTHING, compose_proposal, kind_of, word_of
from agent.asking.proposal import Proposal, ProposalDraft, ProposalKind, ProposalStatus, TextKind
from agent.asking.records import drop, proposals_of, save
from agent.dataclass import dataclass
from agent.errors import AgentError, UserError
from agent.markdown.note import Note
from agent.markdown.title import short_title
from agent.markdown.values import Value
from agent.texts import Language
from agent.vault.change import Create, Edit, Request, Stamp
from agent.vault.folders import APPROVALS
from agent.vault.store import Vault

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
        moved = next((note.path for note in asked.notes if _now(self.vault, note.path) != note.base), None)
        if moved is not None:
            return "outdated", f"{moved} has changed since"
        return "approved" if answer else None

    def carry_out(self, decided: Proposal) -> Sequence[Request]:
        """The proposed texts, after a yes."""
        if decided.status != "approved" or is_written(self.vault, decided):
            return ()
        return [
            Create(each.path, each.text.encode())
            if each.base is None
            else Edit(each.path, each.base.encode(), each.text.encode())
            for each in decided.notes
        ]


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
    moved = next((note.path for note in draft.notes if _now(vault, note.path) != note.base), None)
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
    return bool(asked.notes) and all(_now(vault, note.path) == note.text for note in asked.notes)


def _now(vault: Vault, path: str) -> str | None:
    data = vault.read(path)
    return None if data is None else data.decode("utf-8", "replace")
