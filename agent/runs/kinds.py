"""The table of all kinds of questions that want a yes or a no: which wait, and how their answers are taken in.

A decision by command ticks the box of the note in the person's name, then does what is done with a tick: each kind
reads its decisions from its notes. Listing writes nothing, and leaves out what is ticked already.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from agent.asking.answers import settle_proposals, tick, unanswered
from agent.asking.proposal import Proposal, ProposalKind
from agent.asking.records import records_of
from agent.context.budget import estimate
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.lazy import later
from agent.runs.decisions import approvals
from agent.runs.job_approvals import settle_job_approvals
from agent.runs.own_files import settle_own_files
from agent.runs.skill_lookup import skills_on_demand
from agent.runs.skill_set import skill_set
from agent.skills.trust.reviews import waiting_reviews
from agent.tools.arrival_reviews import pending_reviews, settle_arrivals
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.runs.skill_learning import skill_learning
else:
    skill_learning = later("agent.runs.skill_learning", "skill_learning")


@dataclass(frozen=True, slots=True)
class AskedKind:
    """Kinds of questions that one room asks: `pending` are those without an answer, `settle` takes the answers in."""

    kinds: tuple[ProposalKind, ...]
    pending: Callable[[Workspace], Iterable[Proposal]]
    settle: Callable[[Workspace], object]


KINDS: tuple[AskedKind, ...] = (
    AskedKind(
        ("call",),
        lambda workspace: approvals(workspace).pending(),
        lambda workspace: None,  # the run that makes the call uses its answer up
    ),
    AskedKind(
        ("skill_review",),
        lambda workspace: waiting_reviews(workspace.vault),
        lambda workspace: skill_set(workspace, lambda: None, estimate).ticked(),
    ),
    AskedKind(
        ("skill_offer",),
        lambda workspace: unanswered(workspace.vault, "skill_offer"),
        lambda workspace: skill_learning(skills_on_demand(workspace), None).settle(),
    ),
    AskedKind(
        ("arrived_note", "arrived_files", "remote"),
        lambda workspace: pending_reviews(workspace.vault),
        lambda workspace: settle_arrivals(workspace.vault),
    ),
    AskedKind(
        ("job",),
        lambda workspace: unanswered(workspace.vault, "job"),
        lambda workspace: settle_job_approvals(workspace.vault),
    ),
    AskedKind(
        ("own_file",),
        lambda workspace: unanswered(workspace.vault, "own_file"),
        settle_own_files,
    ),
    AskedKind(
        ("rule", "mutation"),
        lambda workspace: unanswered(workspace.vault, "rule", "mutation"),
        lambda workspace: settle_proposals(workspace.vault),
    ),
)
_BY_KIND: Mapping[ProposalKind, AskedKind] = {kind: each for each in KINDS for kind in each.kinds}


def pending_decisions(workspace: Workspace) -> tuple[Proposal, ...]:
    """All that waits for a yes or no on this machine, oldest first; what has no note any more waits for nothing, but a
    call, whose note may wait to be written."""
    vault = workspace.vault
    found = (each for kind in KINDS for each in kind.pending(workspace))
    there = [each for each in found if each.kind == "call" or vault.own_version(each.path) is not None]
    return tuple(sorted(there, key=lambda each: (each.created, each.path)))


def decide_proposal(workspace: Workspace, asked: Proposal, yes: bool, reason: str) -> Proposal:
    """Say yes or no in the person's name, and do what follows; returns the question as it is then.

    It is `pending` if the tick waits, because git is in the middle of something. Raises `UserError` for a note that is
    gone or has no box, and if what it asks about has changed since.
    """
    if asked.kind == "call":
        return approvals(workspace).decide(asked.id, yes, reason)
    if not tick(workspace.vault, asked, yes, reason):
        return asked
    _BY_KIND[asked.kind].settle(workspace)
    decided = records_of(workspace.vault, asked.kind).get(asked.key or asked.id)
    if decided is None or decided.id != asked.id or decided.status == "pending":
        raise UserError(
            "{name} has changed since {path} was written",
            hint="look at it again: {path}",
            name=asked.name,
            path=asked.path,
        )
    return decided
