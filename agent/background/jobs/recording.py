"""One run of an occurrence, and what it leaves: rows in its history, answers in the vault, and notices."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Protocol, TypeAlias

from agent.attention.lateness import LATE
from agent.attention.receipt import notice_code
from agent.background.failures import failure_text
from agent.background.jobs.once import PendingRun, not_done_requests
from agent.background.resume import OpenRuns
from agent.clock import in_machine_seconds
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.notices import REMINDER, NoticeRaised
from agent.llm.messages import Cancelled
from agent.loop.outcome import Ended
from agent.markdown.inertness.active import inert_blocks
from agent.memory import daily
from agent.runs.job_run import JobResult, run_job
from agent.runs.run_io import RunIO
from agent.schedule.history import HistoryRow, history_path, parse_history, with_rows
from agent.schedule.job import DAILY_CHANNEL, NO_CHANNEL, Job
from agent.schedule.occurrences import Occurrence
from agent.schedule.triggers import At, Cron, RecurrenceRule
from agent.texts import text
from agent.tools.text_origin import text_origin_of
from agent.vault.change import CAPTURE, Append, Create, Outcome, Request, Stamp, actor_of
from agent.vault.message import one_line
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

Notify: TypeAlias = Callable[[NoticeRaised, str], object]
"""Notes a notice in the outbox, once for each id (an empty id: always); raises `Retryable` or `Permanent`."""
PRIORITY = 0.8
"""The priority of a job's answer: its person has asked for it at this time; and of the word that it is stopped."""

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""The digits of a ULID."""
_LENGTH = 26
_CHANNELS = {DAILY_CHANNEL: "", NO_CHANNEL: DAILY_CHANNEL}
"""The channels of reminders by the word in their note: the person's first one by default, and never none."""


def notice_id(occurrence: Occurrence) -> str:
    """The id of the notice with the answer for an occurrence that no run has."""
    digest = sha256(occurrence.key.encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:_LENGTH])


def with_notice(result: JobResult, occurrence: Occurrence) -> JobResult:
    """The result with an id for its notice, also if no run has one: without any, the answer of the next day would be
    taken for the same."""
    return result if result.run or result.notice else replace(result, notice=notice_id(occurrence))


def goes_to_channel(job: Job, result: JobResult) -> bool:
    """True if the run has an answer that attention delivers: a reminder, or one for a channel other than the daily
    note."""
    is_wanted = job.remind or job.channel not in {DAILY_CHANNEL, NO_CHANNEL}
    return is_wanted and result.outcome == "done" and bool(result.text)


def queued_text(workspace: Workspace, result: JobResult) -> str:
    """The place in the job's history of an answer that went to attention, where its delivery is noted."""
    return text("jobs.queued", workspace.settings.vault.language, notice=notice_code(result.notice or result.run))


def notify_answer(notify: Notify, job: Job, planned: datetime, result: JobResult) -> None:
    """Raise the answer of the run for the occurrence at `planned` as a notice, if it goes to a channel; raises what
    `notify` does.

    The notice has an id of its own or that of the run, so that it is raised once, however often this is tried.
    """
    if goes_to_channel(job, result):
        lines = tuple(line for line in inert_blocks(result.text).splitlines() if line.strip())
        title = daily.inert(" ".join(job.title.split()))
        id = result.notice or result.run
        due = planned.isoformat() if job.remind or job.is_once else ""
        notice = NoticeRaised("job_answer", PRIORITY, title, lines, f"{job.id} {id}", job.channel, due=due)
        if is_at_its_hour(job):
            notice = replace(notice, urgent=True)
        if job.remind:  # at the time that its person has named: no rule may hold it
            channel = _CHANNELS.get(job.channel, job.channel)
            notice = replace(notice, type=REMINDER, priority=1.0, urgent=True, channel=channel)
        notify(notice, id)


def is_at_its_hour(job: Job) -> bool:
    """True for a job whose person has named both its channel and its hours: they want its answer there and then, in
    quiet hours and beyond the day's number of notices, too."""
    return job.source == "static" and all(isinstance(each, At | Cron | RecurrenceRule) for each in job.triggers)


def notify_stopped(workspace: Workspace, notify: Notify, job: Job, result: JobResult, failures: int) -> None:
    """Say that a job is stopped, why, and how it goes on; raises what `notify` does."""
    language = workspace.settings.vault.language
    title = text("jobs.stopped", language, title=daily.inert(job.title), count=failures)
    lines = (
        text("jobs.stopped_why", language, reason=daily.inert(result.reason or "-")),
        text("jobs.stopped_more", language, id=job.id, link=history_path(workspace.vault.home, job.id)[:-3]),
    )
    notify(NoticeRaised("job_failed", PRIORITY, title, lines, subject=f"{job.id} {result.run}"), "")


NOT_RUN = frozenset(("nothing", "skipped"))
"""The outcomes of runs that have done nothing."""
TOOL = "jobs"
"""The tool of commits with rows of histories only."""
_HEADING = re.compile(r"^(#{1,6})(?=[ \t])", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)


def day_path(workspace: Workspace, now: datetime) -> str:
    """The path of the note of a day."""
    return workspace.vault.home.day_note(now.date())


def delivery_of(workspace: Workspace, job: Job, result: JobResult, now: datetime) -> str:
    """Where an answer goes: the path of a note, or the notice in which it goes to a channel; empty if none is there or
    wanted."""
    if goes_to_channel(job, result):
        return queued_text(workspace, result)
    if job.channel != DAILY_CHANNEL or result.outcome not in ("done", "waits"):
        return ""
    if result.stands_in:
        return result.stands_in
    return day_path(workspace, now) if result.text or result.outcome == "waits" else ""


def delivery_requests(
    workspace: Workspace, job: Job, planned: datetime, result: JobResult, now: datetime
) -> tuple[Request, ...]:
    """The section of the day's note with the answer of the run for the occurrence at `planned`; none if it goes
    nowhere, or stands somewhere already."""
    path = delivery_of(workspace, job, result, now)
    if not path.endswith(".md") or path == result.stands_in:
        return ()
    block = _section(workspace, job, planned, result, now).encode("utf-8", "replace")
    if result.strangers:
        text_origin_of(workspace.vault).remember(result.run, block, b"", result.strangers)
    return (Append(path, block, daily.beginning(workspace.vault, now.date()), is_block=True),)


def row_requests(workspace: Workspace, rows: Mapping[str, tuple[Job, Sequence[HistoryRow]]]) -> tuple[Request, ...]:
    """The changes of the histories, by the job's id, that add these rows; none for rows that are there."""
    vault, found, language = workspace.vault, list[Request](), workspace.settings.vault.language
    for job, rows_of_job in rows.values():
        added = [each.in_language(language) for each in rows_of_job]
        path = history_path(vault.home, job.id)
        before = vault.read(path)
        after = with_rows(before, job, added, language)
        if before is None:
            found.append(Create(path, after))
        elif after != before:  # another thread may add a row of its own meanwhile
            found.append(Append(path, after[len(before) :]))
    return tuple(found)


def vault_for(workspace: Workspace, row: HistoryRow) -> Vault:
    """The vault in which what a run came to is written: what came to nothing waits for the evening at the latest."""
    return (workspace.unasked if row.outcome in NOT_RUN else workspace).vault


def write_result(workspace: Workspace, job: Job, row: HistoryRow, result: JobResult) -> Outcome:
    """Write a run's row and its answer, with the record of the run, in one commit; raises what a transaction does. That
    of a run that came to nothing waits for the next commit of the history, at the latest for the evening's."""
    vault, now = vault_for(workspace, row), workspace.clock.now()
    rows = row_requests(workspace, {job.id: (job, [row])})
    remarks = not_done_requests(workspace, {job.id: (job, [row])})
    requests = (*rows, *delivery_requests(workspace, job, row.planned, result, now), *remarks)
    stamp = Stamp(actor_of(job.id), run=result.run, tool=CAPTURE, session=result.session)
    subject = f"job({row.outcome}): {one_line(vault.masked(job.title))}"
    with vault.transaction(subject, stamp, masked=True) as change:
        change.requests += requests
        change.release(*vault.held_of(result.session))
    return change.outcome


def write_rows(workspace: Workspace, rows: Mapping[str, tuple[Job, Sequence[HistoryRow]]]) -> None:
    """Write rows about occurrences that did not run, and what is told of them; raises what a transaction does. They
    wait for the next commit of the history, at the latest for the evening's."""
    requests = row_requests(workspace, rows)
    if not requests:
        return
    outcomes = sorted({row.outcome for _, added in rows.values() for row in added})
    subject = f"jobs({', '.join(outcomes)}): {', '.join(sorted(rows))}"
    stamp = Stamp(actor_of(next(iter(rows))) if len(rows) == 1 else "agent", tool=TOOL)
    with workspace.unasked.vault.transaction(one_line(subject), stamp, masked=True) as change:
        change.requests += (*requests, *not_done_requests(workspace, rows))


def write_request_commit(workspace: Workspace, job: Job, requests: Sequence[Request]) -> None:
    """Write a question about a job, with its row; raises what a transaction does."""
    title = one_line(workspace.vault.masked(job.title))
    with workspace.vault.transaction(f"job(waits): {title}", Stamp(actor_of(job.id), tool=TOOL)) as change:
        change.requests += requests


def rows_of(vault: Vault, job: str) -> tuple[HistoryRow, ...]:
    """All rows of a job's history, of whichever machine."""
    return parse_history(vault.read(history_path(vault.home, job)) or b"")


def killed_row(workspace: Workspace, job: Job, planned: int, begun: datetime | None, machine: str) -> HistoryRow:
    """The row of the run for the second `planned` that was killed: the one that it wrote, if it came so far."""
    second = begun.replace(microsecond=0) if begun else None
    for row in rows_of(workspace.vault, job.id):
        if row.planned.timestamp() == planned and row.started == second and row.machine == machine:
            return row
    at = datetime.fromtimestamp(planned, job.zone)
    reason = text("jobs.was_killed", workspace.settings.vault.language)
    return HistoryRow(at, "interrupted", begun, reason=reason, machine=machine)


def is_recorded(rows: Iterable[HistoryRow], at: datetime) -> bool:
    """True if a row is about the occurrence at this moment."""
    return any(row.planned.timestamp() == at.timestamp() for row in rows)


def is_written(rows: Iterable[HistoryRow], row: HistoryRow) -> bool:
    """True if the row of a run is in the history already, such as by the commit of its procedure."""
    same = (row.planned.timestamp(), row.outcome, row.attempt, row.machine)
    return row.started is not None and any(
        (each.planned.timestamp(), each.outcome, each.attempt, each.machine) == same and each.started for each in rows
    )


def _section(workspace: Workspace, job: Job, planned: datetime, result: JobResult, now: datetime) -> str:
    language = workspace.settings.vault.language
    heading = f"## {daily.inert(' '.join(job.title.split()))} ({now:%H:%M})"
    parts = [heading, _lowered(inert_blocks(result.text)) if result.text else ""]
    if job.is_once and now - planned >= LATE:
        parts.append(text("notices.late", language, at=f"{planned:%Y-%m-%d %H:%M}"))
    if result.outcome == "waits" and result.waits_for:
        parts.append(text("answers.waits", language, note=f"[[{result.waits_for.removesuffix('.md')}]]"))
    if result.session:
        parts.append(f"[[{result.session.removesuffix('.md')}|{text('answers.how', language)}]]")
    return "\n" + "\n\n".join(filter(None, parts)) + "\n"


def _lowered(answer: str) -> str:
    """The answer with its headings below that of its section, unless it has blocks of code (where # is none)."""
    levels = [len(each) for each in _HEADING.findall(answer)]
    if not levels or _FENCE.search(answer):
        return answer
    more = max(0, 3 - min(levels))
    return _HEADING.sub(lambda found: "#" * min(6, len(found[1]) + more), answer)


logger = logging.getLogger(__name__)


class Procedures(Protocol):
    """Does the work of a job that names a procedure. `also` gives the requests that go into the same commit. `waited`
    is the end of a run of it that had waited for its person: then only what is left to be done after that run."""

    def __call__(
        self,
        job: Job,
        cancelled: Cancelled,
        also: Callable[[JobResult], Sequence[Request]],
        waited: Ended | None = None,
        /,
    ) -> JobResult: ...


@dataclass(frozen=True, slots=True)
class JobAttempt:
    """A run that begins now. `machine` is this one's name; `cancelled` says whether to stop."""

    workspace: Workspace
    entry: PendingRun
    machine: str
    started: datetime
    since: float
    cancelled: Cancelled

    @property
    def seconds(self) -> float:
        """The machine's seconds since the begin: a clock that was set lets no run take longer."""
        return in_machine_seconds(self.workspace.clock).monotonic() - self.since

    @property
    def longest(self) -> float:
        """The most seconds that the run may take."""
        return longest_run(self.workspace, self.entry.job)

    def perform(self, open_runs: OpenRuns, procedures: Procedures) -> tuple[JobResult, HistoryRow]:
        """Run the job once; whatever goes wrong is in the result."""
        try:
            result = self._result(open_runs, procedures)
        except Exception as error:  # a bug in one run must not end the daemon's others, nor go unseen
            if not isinstance(error, AgentError | OSError):
                logger.warning("the job %s failed", self.entry.job.id, exc_info=True)
            result = JobResult("failed", reason=failure_text(error))
        language = self.workspace.settings.vault.language
        if result.outcome == "interrupted" and self.seconds >= self.longest:
            reason = text("jobs.too_long", language, seconds=round(self.longest))
            result = replace(result, outcome="failed", text="", reason=reason)
        elif result.outcome == "interrupted" and not result.reason:
            result = replace(result, reason=text("jobs.was_stopped", language))
        return result, self.row(result)

    def row(self, result: JobResult) -> HistoryRow:
        """The row of the job's history about this run."""
        entry = self.entry
        return HistoryRow(
            entry.occurrence.at,
            result.outcome,
            self.started,
            self.seconds,
            result.reason,
            delivery_of(self.workspace, entry.job, result, self.workspace.clock.now()),
            result.money,
            result.session,
            result.is_changed,
            self.machine,
            entry.attempt,
            entry.missed,
        )

    def _result(self, open_runs: OpenRuns, procedures: Procedures) -> JobResult:
        job = self.entry.job
        if job.task is not None:
            return with_notice(procedures(job, self._is_stopped, self._also), self.entry.occurrence)
        with open_runs() as runs:
            result = run_job(runs, job, RunIO(cancelled=self._is_stopped), self.entry.paths)
            return with_notice(result, self.entry.occurrence)

    def _is_stopped(self) -> bool:
        return self.cancelled() or self.entry.cancelled.is_set() or self._is_lost or self.seconds >= self.longest

    @property
    def _is_lost(self) -> bool:
        """True if another machine has taken the job over."""
        return self.entry.turn is not None and self.entry.turn.is_lost()

    def _also(self, result: JobResult) -> Sequence[Request]:
        """The row and the answer, for the commit that a procedure makes."""
        if result.outcome != "done" or self._is_lost:
            return ()
        job, now = self.entry.job, self.workspace.clock.now()
        result = with_notice(result, self.entry.occurrence)
        rows = row_requests(self.workspace, {job.id: (job, [self.row(result)])})
        return (*rows, *delivery_requests(self.workspace, job, self.entry.occurrence.at, result, now))


def longest_run(workspace: Workspace, job: Job) -> float:
    """The most seconds that a run of this job may take."""
    return job.timeout or workspace.settings.schedule.work_minutes * 60
