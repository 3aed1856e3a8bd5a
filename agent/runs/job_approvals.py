"""Jobs with `approval_required`: their person is asked about each occurrence in a note, and it runs after the yes.

An answer counts only with the record of its question on this machine, until it expires, and for the text that the
job had then. Who runs the occurrence after a yes is the caller's matter.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256

from agent.asking.answers import answered_proposals, free_path, settle, unanswered
from agent.asking.note import compose_proposal
from agent.asking.proposal import Proposal, ProposalDraft, ProposalStatus
from agent.asking.records import drop, proposals_of, save
from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.escape import escape_line
from agent.markdown.blocks import format_fenced
from agent.schedule.job import Job
from agent.schedule.occurrences import Occurrence
from agent.texts import Language, text
from agent.vault.change import Create, Request, Stamp
from agent.vault.store import Vault

_KEPT = timedelta(days=35)
"""The time for which a settled record is kept: as long as a decision in the ledger."""
_STAMP = Stamp("agent", tool="jobs")


@dataclass(frozen=True, slots=True)
class JobConsequence:
    """A yes lets one occurrence run; who acts on it is the caller."""

    now: datetime

    def judge(self, asked: Proposal, answer: bool | None) -> ProposalStatus | None:
        """The new status of a question: expired, or what was answered."""
        if answer is not None:
            return "approved" if answer else "rejected"
        return "outdated" if asked.expires is not None and self.now >= asked.expires else None

    def carry_out(self, decided: Proposal) -> Sequence[Request]:
        """Nothing yet: the run begins when the daemon takes the answer."""
        return ()


def question(
    vault: Vault, job: Job, occurrence: Occurrence, stands_for: int, hours: float, language: Language
) -> Create:
    """Record a question, and return the request that writes its note."""
    now = vault.clock.now().replace(microsecond=0)
    expires, id = in_clock_zone(now + timedelta(hours=hours), now), vault.clock.new_id()
    taken = [each.path for each in proposals_of(vault, "job")]
    path = free_path(vault, f"job-{job.id}-{occurrence.at:%Y-%m-%d-%H%M}", taken)
    draft = ProposalDraft(
        "job",
        job.title,
        text("jobs.ask", language, title=_without_markup(job.title), at=f"{occurrence.at:%Y-%m-%d %H:%M}"),
        text("jobs.ask_why", language, link=_without_markup(job.path.removesuffix(".md"))),
        sections=((text("jobs.ask_task", language), format_fenced(job.text or job.task or "-", "text")),),
        holds=text("jobs.ask_until", language, until=f"{expires:%Y-%m-%d %H:%M}"),
    )
    data = compose_proposal(draft, id, now, language, {"job": job.id, "expires": expires})
    facts = {"planned": occurrence.at.isoformat(), "stands_for": str(stands_for)}
    key = sha256(occurrence.key.encode()).hexdigest()[:32]
    asked = Proposal("job", job.id, path, id, now, draft.question, key, job.digest, facts=facts, expires=expires,
                     status="pending")  # fmt: skip
    save(vault, asked)
    return Create(path, data)


def occurrence_of(asked: Proposal) -> Occurrence:
    """The occurrence that a question is about."""
    return Occurrence(asked.name, datetime.fromisoformat(asked.facts["planned"]))


def pending_job_approvals(vault: Vault) -> tuple[Proposal, ...]:
    """The questions that have no answer yet, by a tick or by a command."""
    return unanswered(vault, "job")


def settle_job_approvals(vault: Vault) -> tuple[Proposal, ...]:
    """Take in the ticks, and close what nobody answered in time; returns all answers that nobody has acted upon."""
    now = vault.clock.now()
    settle(vault, ("job",), JobConsequence(now), _STAMP)
    for each in proposals_of(vault, "job"):
        if each.is_taken and each.expires is not None and now >= each.expires + _KEPT:
            drop(vault, each)
    return answered_proposals(vault, "job")


def refusal_of(job: Job, asked: Proposal, language: Language) -> str:
    """Why an occurrence does not run after its question was settled; empty if it does."""
    if asked.status == "rejected":
        return asked.reason or text("jobs.said_no", language)
    if asked.status == "outdated":
        return text("jobs.not_answered", language)
    return text("jobs.has_changed", language) if job.digest != asked.subject else ""


def _without_markup(words: str) -> str:
    return "".join(c for c in escape_line(words) if c not in "[]`<>%*|$")
