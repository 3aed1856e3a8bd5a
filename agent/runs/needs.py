"""The one list of what needs the person: what wants a yes or an answer, requests without an answer, and duties that
failed. The terminal, the pages and the briefing show the same; each is answered where it is named."""

from collections.abc import Iterator
from datetime import datetime
from shlex import quote
from typing import Literal, TypeAlias

from agent.asking.codes import codes_by_path
from agent.attention.receipts import NoticeLedger, unheard_reminders
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone
from agent.loop.session import load_session
from agent.runs.job_upkeep import job_record, job_shelf, owed_jobs
from agent.runs.kinds import pending_decisions
from agent.runs.open_requests import unanswered
from agent.runs.registry import run_registry
from agent.runs.waiting_questions import waiting_questions
from agent.schedule.job import Job
from agent.texts import text, translated
from agent.tools.text_origin import text_origin_of
from agent.workspace.workspace import Workspace

NeedKind: TypeAlias = Literal["yes", "question", "request", "duty", "stopped", "reminder"]
"""`yes`: a decision; `question`: an answer in words; `request`: a note in `inbox/` that nobody has answered; `duty`: a
job of once that is not done; `stopped`: a job that its failures have stopped; `reminder`: one that no channel has
proved."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that needs the person. `title` is one line in the vault's language; `name` is what commands call it
    (empty: it is not answered by name); `code` the short one for replies; `path` the note in which it is answered;
    `command` what helps, where no answer does; `number` counts those of a kind."""

    kind: NeedKind
    title: str
    name: str = ""
    code: str = ""
    path: str = ""
    at: datetime | None = None
    command: str = ""
    number: int = 1
    session: str = ""
    """The conversation whose run asks."""


def needs_of(workspace: Workspace) -> tuple[Need, ...]:
    """All that needs the person: decisions first, the oldest first, then questions, requests and duties."""
    codes = codes_by_path(workspace.vault)
    return (*_decisions(workspace, codes), *_questions(workspace, codes), *other_needs(workspace))


def other_needs(workspace: Workspace) -> tuple[Need, ...]:
    """The needs that no answer settles: requests and duties."""
    return (*_requests(workspace), *_duties(workspace), *_reminders(workspace))


def _decisions(workspace: Workspace, codes: dict[str, str]) -> Iterator[Need]:
    for number, each in enumerate(pending_decisions(workspace), 1):
        name = each.id if each.kind == "call" else each.name
        yield Need("yes", each.question or each.name, name, codes.get(each.path, ""), each.path, each.created,
                   number=number, session=each.session)  # fmt: skip


def _questions(workspace: Workspace, codes: dict[str, str]) -> Iterator[Need]:
    runs = {mark.waits_for: mark.session for mark in run_registry(workspace.vault).all() if mark.waits_for}
    for number, each in enumerate(waiting_questions(workspace), 1):
        yield Need("question", first_line(each.text), each.id, codes.get(each.path, ""), each.path, number=number,
                   session=runs.get(each.path, ""))  # fmt: skip


def _requests(workspace: Workspace) -> Iterator[Need]:
    for path, _ in unanswered(workspace):
        title = _say(workspace, "request", note=path.rpartition("/")[2].removesuffix(".md"))
        yield Need("request", title, path=path, command=f"vault-agent ask --note {quote(path)}")


def _duties(workspace: Workspace) -> Iterator[Need]:
    """The jobs of once that are not done, and those that their failures have stopped."""
    jobs, language = job_shelf(workspace).load().jobs, workspace.settings.vault.language
    for owed in owed_jobs(workspace, jobs):
        reason = translated(owed.reason, language)
        yield Need("duty", f"{owed.job.title}: {reason}", owed.job.name, path=owed.job.path, at=owed.planned,
                   command=f"vault-agent jobs run {quote(owed.job.name)}")  # fmt: skip
    yield from (_stopped(workspace, job) for job in jobs if _is_stopped(workspace, job))


def _is_stopped(workspace: Workspace, job: Job) -> bool:
    return job.status == "active" and not job.is_once and job_record(workspace, job).is_stopped


def _stopped(workspace: Workspace, job: Job) -> Need:
    title, command = _say(workspace, "stopped", title=job.title), f"vault-agent jobs resume {quote(job.name)}"
    return Need("stopped", title, job.name, path=job.path, command=command)


def _reminders(workspace: Workspace) -> Iterator[Need]:
    receipts = NoticeLedger(workspace.vault.records, workspace.clock).all()
    for each in unheard_reminders(receipts):
        yield Need("reminder", _say(workspace, "reminder", title=each.raised.title), at=each.at)


def may_be_strangers(workspace: Workspace, need: Need) -> bool:
    """True if the words of `title` may be a stranger's: by what its note is known to hold, or what the conversation has
    read that asks. Such are shown to the person, and told to no model as theirs."""
    vault = workspace.vault
    if need.path and text_origin_of(vault).source(need.path, vault.read(need.path) or b""):
        return True
    try:
        return bool(need.session and load_session(vault, need.session).untrusted_for("owner"))
    except (NoteGone, AgentError):
        return True  # nobody knows any more what it has read


def first_line(words: str) -> str:
    """The first words of a question, without the signs of Markdown."""
    lines = (line.strip("# *_>").strip() for line in words.splitlines())
    return next(filter(None, lines), words)


def _say(workspace: Workspace, key: str, **values: object) -> str:
    return text(f"needs.{key}", workspace.settings.vault.language, **values)
