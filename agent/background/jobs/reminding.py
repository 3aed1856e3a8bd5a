"""What a reminder says, made of its note alone: nothing that may be away is asked for it."""

from hashlib import sha256

from agent.background.failures import failure_text
from agent.background.jobs.once import PendingRun
from agent.errors import AgentError
from agent.runs.briefing.briefing import briefing_of
from agent.runs.job_run import JobResult, asks_for_agenda
from agent.schedule.job import Job
from agent.schedule.occurrences import Occurrence
from agent.texts import text
from agent.workspace.workspace import Workspace

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""The digits of a ULID."""
_LENGTH = 26


def reminder_of(workspace: Workspace, entry: PendingRun) -> JobResult:
    """The answer of a reminder. Its notice has the id of the occurrence: after a kill it is not raised again."""
    job, language, vault = entry.job, workspace.settings.vault.language, workspace.vault
    parts = [job.text if job.text.casefold() != job.title.casefold() else "", _agenda(workspace, job)]
    if entry.stands_for > 1:
        parts.append(text("reminder.stands_for", language, count=entry.stands_for))
    words = "\n\n".join(filter(None, parts)) or text("reminder.due", language)
    return JobResult("done", vault.masked(words), notice=_notice_id(entry.occurrence))


def _agenda(workspace: Workspace, job: Job) -> str:
    """The agenda of the day for a reminder of it; a failure to read it, in words, keeps no reminder back."""
    if job.user_id or not asks_for_agenda(job.text):
        return ""
    try:
        return briefing_of(workspace, workspace.clock.now().astimezone(job.zone).date(), job)
    except (AgentError, OSError) as error:
        return failure_text(error)


def _notice_id(occurrence: Occurrence) -> str:
    digest = sha256(occurrence.key.encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:_LENGTH])
