"""Jobs with `approval_required`: their person is asked about each occurrence in a note, and it runs after the yes.

An answer counts only with the record of its question on this machine, until it expires, and for the text that the
job had then. Who runs the occurrence after a yes is the caller's matter.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from agent.asking.answers import NoteDecision, answer_in, close, free_path
from agent.asking.note import compose_proposal
from agent.asking.proposal import ProposalDraft
from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.escape import escape_line
from agent.markdown.blocks import format_fenced
from agent.markdown.checkbox_decision import parse_reason
from agent.markdown.note import Note
from agent.schedule.job import Job
from agent.schedule.occurrences import Occurrence
from agent.texts import Language, text
from agent.vault.change import Create, Stamp
from agent.vault.layout import JOB_APPROVALS
from agent.vault.record_folder import RecordFolder
from agent.vault.store import Vault

JobAnswer: TypeAlias = Literal["pending", "approved", "rejected", "outdated", "settled"]
_ANSWERS: tuple[JobAnswer, ...] = get_args(JobAnswer)
_KEPT = timedelta(days=35)
"""The time for which a settled record is kept: as long as a decision in the ledger."""
_STAMP = Stamp("agent", tool="jobs")


@dataclass(frozen=True, slots=True)
class JobApproval:
    """One question: may `job` run for the occurrence at `planned`? `digest` is the id of the job's content then.

    `settled`: the answer was acted upon.
    """

    job: str
    planned: datetime
    stands_for: int
    digest: str
    path: str
    id: str
    created: datetime
    expires: datetime
    status: JobAnswer = "pending"
    reason: str = ""

    @property
    def occurrence(self) -> Occurrence:
        """The occurrence that it is about."""
        return Occurrence(self.job, self.planned)


def job_approvals(vault: Vault) -> RecordFolder[JobApproval]:
    """The questions about jobs that were asked on this machine."""
    return RecordFolder(vault.private_folder / JOB_APPROVALS, _parsed)


def question(
    vault: Vault, job: Job, occurrence: Occurrence, stands_for: int, hours: float, language: Language
) -> tuple[JobApproval, Create]:
    """The record of a question and the request that writes its note; `record_question` makes it valid."""
    now = vault.clock.now().replace(microsecond=0)
    expires, id = in_clock_zone(now + timedelta(hours=hours), now), vault.clock.new_id()
    taken = [each.path for each in job_approvals(vault).all()]
    path = free_path(vault, f"job-{job.id}-{occurrence.at:%Y-%m-%d-%H%M}", taken)
    draft = ProposalDraft(
        "job",
        job.title,
        text("jobs.ask", language, title=_plain(job.title), at=f"{occurrence.at:%Y-%m-%d %H:%M}"),
        text("jobs.ask_why", language, link=_plain(job.path.removesuffix(".md"))),
        (),
        ((text("jobs.ask_task", language), format_fenced(job.text or job.task or "-", "text")),),
        holds=text("jobs.ask_until", language, until=f"{expires:%Y-%m-%d %H:%M}"),
    )
    data = compose_proposal(draft, id, now, language, {"job": job.id, "expires": expires})
    asked = JobApproval(job.id, occurrence.at, stands_for, job.digest, path, id, now, expires)
    return asked, Create(path, data)


def record_question(vault: Vault, asked: JobApproval) -> None:
    """Make a question valid on this machine."""
    job_approvals(vault).put(_key(asked), asked)


def pending_job_approvals(vault: Vault) -> tuple[JobApproval, ...]:
    """The questions that have no answer yet, by a tick or by a command."""
    return tuple(each for each in _open(vault) if _answer(vault, each) is None)


def settle_job_approvals(vault: Vault) -> tuple[JobApproval, ...]:
    """Take in the ticks, and close what nobody answered in time; returns all answers that nobody has acted upon."""
    records, now = job_approvals(vault), vault.clock.now()
    statuses: dict[str, NoteDecision] = {}
    for asked in _open(vault):
        found = _answer(vault, asked)
        if found is None and now < asked.expires:
            continue
        status: NoteDecision
        status = "outdated" if found is None else "approved" if found else "rejected"
        reason = parse_reason(vault.own_version(asked.path) or b"") if found is False else ""
        records.put(_key(asked), replace(asked, status=status, reason=reason))
        statuses[asked.path] = status
    close(vault, statuses, "jobs(settle): what was asked about is decided", _STAMP)
    for each in records.all():
        if each.status == "settled" and now >= each.expires + _KEPT:
            records.drop(_key(each))
    return tuple(each for each in records.all() if each.status in ("approved", "rejected", "outdated"))


def refusal_of(job: Job, asked: JobApproval, language: Language) -> str:
    """Why an occurrence does not run after its question was settled; empty if it does."""
    if asked.status == "rejected":
        return asked.reason or text("jobs.said_no", language)
    if asked.status == "outdated":
        return text("jobs.not_answered", language)
    return text("jobs.has_changed", language) if job.digest != asked.digest else ""


def mark_settled(vault: Vault, asked: JobApproval) -> None:
    """Note that an answer was acted upon; durable when this returns."""
    job_approvals(vault).put(_key(asked), replace(asked, status="settled"))


def _open(vault: Vault) -> Iterator[JobApproval]:
    return (each for each in job_approvals(vault).all() if each.status == "pending")


def _answer(vault: Vault, asked: JobApproval) -> bool | None:
    data = vault.own_version(asked.path)
    if data is None or Note.parse(data).id != asked.id:
        return None
    return answer_in(data)


def _key(asked: JobApproval) -> str:
    return sha256(asked.occurrence.key.encode()).hexdigest()[:32]


def _plain(words: str) -> str:
    return "".join(c for c in escape_line(words) if c not in "[]`<>%*|$")


def _parsed(row: dict[str, object]) -> JobApproval:
    planned, created, expires = (datetime.fromisoformat(str(row[name])) for name in ("planned", "created", "expires"))
    job, digest, path, id = (str(row[name]) for name in ("job", "digest", "path", "id"))
    status = next((each for each in _ANSWERS if each == row["status"]), None)
    if status is None:
        raise ValueError(row["status"])
    reason = str(row.get("reason", ""))
    return JobApproval(job, planned, int(str(row["stands_for"])), digest, path, id, created, expires, status, reason)
