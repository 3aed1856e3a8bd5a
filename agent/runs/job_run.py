"""One run of a job's text, and what came of it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from agent.channel_names import OF_JOBS
from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.errors import AgentError, LockHeld, NoteGone
from agent.events.runs import Speaker
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.runs.briefing.briefing import aims_of, briefing_of
from agent.runs.crash_recovery import is_own
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.schedule.history import Outcome
from agent.schedule.job import DAILY_CHANNEL, NO_CHANNEL, Job
from agent.texts import text, translated
from agent.workspace.workspace import Workspace


def asks_for_agenda(task: str) -> bool:
    """True for a task about the person's day: a briefing, what is due, appointments."""
    return pattern("agenda").search(task) is not None


_OWN_CHANNEL = "cli"
"""The channel whose session a job of the mode `main` goes on with: the person's own at the terminal."""
_NAMED = 20
"""The most notes that a run is told of."""
_OUTCOMES: dict[RunOutcome, Outcome] = {
    RunOutcome.FINISHED: "done",
    RunOutcome.NEEDS_APPROVAL: "waits",
    RunOutcome.QUESTION_ASKED: "waits",
    RunOutcome.INTERRUPTED: "interrupted",
}


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of one run of a job.

    `text` is the answer, `reason` why there is none. `waits_for` is the note in which the person decides, `strangers`
    the sources of text that the run has read and that is not the person's, `is_changed`: its tools have changed notes.
    `stands_in` is the note that has the answer already, empty if it is to be written somewhere. `notice` is the id of
    the notice that brings the answer (empty: that of the run).
    """

    outcome: Outcome
    text: str = ""
    reason: str = ""
    run: str = ""
    session: str = ""
    is_changed: bool = False
    money: float = 0.0
    waits_for: str = ""
    strangers: tuple[str, ...] = ()
    stands_in: str = ""
    notice: str = ""


def run_job(runs: RunService, job: Job, line: RunIO, paths: Sequence[str] = ()) -> JobResult:
    """Run a job's text; `paths` are the notes whose changes start it. The record of the run is held for
    the commit that the caller makes.

    Raises what `RunService.ask` does.
    """
    runs.capturing.hold = True
    links = [f"- [[{path.removesuffix('.md')}]]" for path in paths[:_NAMED]]
    links += [f"- … ({len(paths) - _NAMED})"] if len(paths) > _NAMED else []
    task = "\n".join((job.text, "", *links)) if links else job.text
    strangers = ""
    is_briefing = not job.user_id and asks_for_agenda(job.text)
    if is_briefing:
        if not runs.account.models.main.model.present:
            return plain_briefing(runs.workspace, job, "")
        facts = briefing_of(runs.workspace, _today(runs.workspace, job), job, for_model=True)
        head = text("briefing.facts", runs.workspace.settings.vault.language) if facts.text or facts.framed else ""
        task = "\n\n".join(filter(None, (task, head, facts.text, facts.framed, aims_of(runs.workspace))))
        strangers = ", ".join(facts.strangers)
    request = RunRequest(task, Speaker(OF_JOBS, job.user_id), job=job.id, spend=job.spend, place=_place(job))
    try:
        ended = runs.ask(request, _session(runs, job), line, strangers)
    except LockHeld:
        if job.mode == "isolated":
            raise
        ended = runs.ask(request, "", line, strangers)  # its person is talking in that session now
    result = result_of(runs.workspace, ended, runs.account.spent(ended.run).money)
    return _with_facts(runs.workspace, job, result, ended) if is_briefing and result.outcome == "failed" else result


def result_of(workspace: Workspace, ended: Ended, money: float) -> JobResult:
    """The result of a job's run that has cost so much."""
    vault = workspace.vault
    outcome = _OUTCOMES.get(ended.outcome, "failed")
    reason = ". ".join(filter(None, (vault.masked(ended.reason), vault.masked(ended.hint))))
    try:
        strangers = tuple(load_session(vault, ended.session).untrusted)
    except (NoteGone, AgentError):
        strangers = ()
    found = JobResult(outcome, vault.masked(ended.answer.strip()), "", ended.run, ended.session, ended.is_changed)
    return replace(
        found,
        reason="" if outcome == "done" else reason,
        money=money,
        waits_for=ended.waits_for,
        strangers=strangers,
    )


def plain_briefing(workspace: Workspace, job: Job, reason: str) -> JobResult:
    """The facts alone as the answer; `reason` is why no model has put them into words (empty: there is none). Passages
    that have words of the job's text in common with it would be no briefing."""
    language = workspace.settings.vault.language
    facts = briefing_of(workspace, _today(workspace, job), job)
    words = facts.text or text("briefing.nothing", language)
    cause = translated(reason, language).rstrip(".。")
    why = [text("briefing.no_words", language, reason=cause)] if reason else []
    return JobResult("done", workspace.vault.masked("\n\n".join((words, *why))), strangers=facts.strangers)


def _with_facts(workspace: Workspace, job: Job, failed: JobResult, ended: Ended) -> JobResult:
    """The briefing of a run that has failed: its person has the facts all the same, and hears why no more."""
    why = ended.failure.message if isinstance(ended.failure, AgentError) else ended.reason
    plain = plain_briefing(workspace, job, why or failed.reason)
    strangers = tuple(dict.fromkeys((*failed.strangers, *plain.strangers)))
    return replace(failed, outcome="done", text=plain.text, reason="", strangers=strangers)


def _today(workspace: Workspace, job: Job) -> date:
    return workspace.clock.now().astimezone(job.zone).date()


def _place(job: Job) -> str:
    """Where the answer of a job goes, as its model is told."""
    if job.channel == NO_CHANNEL:
        return "the note of this conversation, which the person may never open"
    return "the person's note of the day" if job.channel == DAILY_CHANNEL else f"the person, through {job.channel}"


def _session(runs: RunService, job: Job) -> str:
    """The session that a job goes on with; empty for one of its own."""
    if job.mode == "isolated":
        return ""
    found = runs.last_session(Speaker(_OWN_CHANNEL))
    if found is None or found.open_run is not None or not is_own(runs.workspace, found) or runs.is_stale(found):
        return ""
    return found.path
