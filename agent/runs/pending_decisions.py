"""Everything in `approvals/` that waits for a person's yes or no: calls, skills, arrivals, jobs, and what is proposed.

A decision by command ticks the box of the note in the person's name, then does what is done with a tick: each kind
reads its decisions from its notes. Listing writes nothing, and leaves out what is ticked already.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from agent.asking.answers import answer_in
from agent.asking.proposal import ProposalKind
from agent.asking.proposals import pending_proposals, settle_proposals
from agent.context.budget import estimate
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.lazy import later
from agent.markdown.checkbox_decision import with_decision
from agent.markdown.note import Note
from agent.runs.decisions import approvals
from agent.runs.job_approvals import pending_job_approvals, settle_job_approvals
from agent.runs.skill_lookup import skills_on_demand
from agent.runs.skill_set import skill_set
from agent.skills.learning.offer_records import offer_records_folder, waiting_offers
from agent.skills.loading.pins import pins_of
from agent.skills.trust.review_records import waiting_reviews
from agent.tools.approval_records import ApprovalRecord
from agent.tools.arrival_reviews import ReviewKind, pending_reviews, settle_arrivals
from agent.vault.change import Stamp
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.runs.skill_learning import skill_learning
else:
    skill_learning = later("agent.runs.skill_learning", "skill_learning")

DecisionKind: TypeAlias = (
    Literal["call", "skill_review", "skill_offer", "arrived_note", "arrived_files", "remote", "job"] | ProposalKind
)

_REVIEWED: Mapping[ReviewKind, DecisionKind] = {"note": "arrived_note", "files": "arrived_files", "remote": "remote"}


@dataclass(frozen=True, slots=True)
class PendingDecision:
    """One question that waits in the note at `path`.

    `name` is what it is about: the skill, the arrived note, the remote's address, the job, or the tool of a call.
    `call` is the record of a call, None for the other kinds. `question` asks for the yes in one line, in the person's
    language; empty where the interfaces have a sentence for the kind.
    """

    kind: DecisionKind
    id: str
    name: str
    path: str
    since: datetime | None
    call: ApprovalRecord | None = None
    question: str = ""


def pending_decisions(workspace: Workspace) -> tuple[PendingDecision, ...]:
    """All that waits for a yes or no on this machine, oldest first."""
    vault = workspace.vault
    calls = (pending_call(asked) for asked in approvals(workspace).pending())
    proposed = (
        PendingDecision(each.kind, each.id, each.name, each.path, each.created, question=each.question)
        for each in pending_proposals(vault)
    )
    found = (*calls, *proposed, *filter(None, (_in_note(vault, *each) for each in _asked_in_notes(vault))))
    return tuple(sorted(found, key=lambda each: (str(each.since or ""), each.path)))


def pending_call(asked: ApprovalRecord) -> PendingDecision:
    """The question about a call."""
    return PendingDecision("call", asked.id, asked.tool, asked.path, asked.created, asked)


def decide_in_note(workspace: Workspace, asked: PendingDecision, yes: bool, reason: str) -> str:
    """Tick the box of a note that asks about a skill or an arrival, and do what follows from it.

    Returns the note's status; `pending` if the tick waits, because git is in the middle of something. Raises
    `UserError` for a note that is gone or has no box, and if what it asks about has changed since.
    """
    vault, path = workspace.vault, asked.path
    data, why = vault.read(path), vault.masked(" ".join(reason.split()))[:500]
    after = with_decision(data, yes, why) if data is not None else None
    if data is None or after is None or answer_in(after) is not yes:
        raise UserError(
            "{path} has no box that can be ticked", hint="vault-agent approvals lists what waits", path=path
        )
    subject = f"approval({'approved' if yes else 'rejected'}): {asked.name}"
    with vault.transaction(subject, Stamp("human"), body=why) as change:
        change.edit(path, data, after)
    if change.outcome.queued:
        return "pending"
    _settle(workspace, asked.kind)()
    status = _status(vault, path)
    if status == "pending":
        raise UserError(
            "{name} has changed since {path} was written", hint="look at it again: {path}", name=asked.name, path=path
        )
    return status


def _settle(workspace: Workspace, kind: DecisionKind) -> Callable[[], object]:
    """The function that takes in the ticks of one kind."""
    if kind == "skill_review":
        return skill_set(workspace, lambda: None, estimate).ticked
    if kind == "job":
        return lambda: settle_job_approvals(workspace.vault)
    if kind == "skill_offer":
        return skill_learning(skills_on_demand(workspace), None).settle
    if kind in get_args(ProposalKind):
        return lambda: settle_proposals(workspace.vault)
    return lambda: settle_arrivals(workspace.vault)


def _asked_in_notes(vault: Vault) -> Iterator[tuple[DecisionKind, str, str]]:
    """The kind and the note of each open question of the other kinds, with what it is about if the record says it."""
    for path in waiting_reviews(vault, pins_of(vault)):
        yield "skill_review", path, ""
    for offer in waiting_offers(vault, offer_records_folder(vault)):
        yield "skill_offer", offer.path, offer.name
    for review in pending_reviews(vault):
        yield _REVIEWED[review.kind], review.path, review.subject
    for asked in pending_job_approvals(vault):
        yield "job", asked.path, asked.job


def _in_note(vault: Vault, kind: DecisionKind, path: str, name: str) -> PendingDecision | None:
    """The question in a note; None if the note is gone or has a tick."""
    data = vault.own_version(path)
    if data is None or answer_in(data) is not None:
        return None
    note = Note.parse(data)
    since = note.header.get("created")
    about = name or note.string("skill") or PurePosixPath(path).stem
    return PendingDecision(kind, note.id or path, about, path, since if isinstance(since, datetime) else None)


def _status(vault: Vault, path: str) -> str:
    return Note.parse(vault.read(path) or b"").string("status") or "pending"
