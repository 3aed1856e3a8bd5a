"""The work on one occurrence in its thread: this machine's turn, the ledger, the run, and what is written of it.

At most one run for each occurrence: the ledger has it on disk before the run begins, and of several machines the one
that has the turn looks into the job's history first, after it has taken in what the others have written. What could not
be written after a run is written later; nothing runs again for it.

What a reminder says, made of its note alone: nothing that may be away is asked for it.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

from agent.background.failures import failure_text
from agent.background.jobs.once import PendingRun
from agent.background.jobs.recording import (
    JobAttempt,
    Notify,
    Procedures,
    delivery_of,
    is_recorded,
    is_written,
    longest_run,
    notice_id,
    notify_answer,
    notify_stopped,
    rows_of,
    vault_for,
    with_notice,
    write_result,
)
from agent.background.resume import OpenRuns
from agent.clock import in_machine_seconds
from agent.dataclass import dataclass
from agent.errors import AgentError, LockHeld, Retryable
from agent.llm.messages import Cancelled
from agent.runs.briefing.briefing import Briefing, briefing_of
from agent.runs.job_run import JobResult, asks_for_agenda, plain_briefing
from agent.runs.job_upkeep import job_record
from agent.runs.registry import run_registry
from agent.schedule.history import HistoryRow, Outcome
from agent.schedule.job import Job
from agent.schedule.ledger import OccurrenceLedger
from agent.texts import Sentence, text
from agent.vault.store import Vault
from agent.vault.sync.claims import Claims
from agent.vault.sync.turns import AnotherMachineHasIt, Turn, take_turn
from agent.workspace.workspace import Workspace


def reminder_of(workspace: Workspace, entry: PendingRun) -> JobResult:
    """The answer of a reminder. Its notice has the id of the occurrence: after a kill it is not raised again."""
    job, language, vault = entry.job, workspace.settings.vault.language, workspace.vault
    day = _agenda(workspace, job)
    parts = [job.text if job.text.casefold() != job.title.casefold() else "", day.text]
    if entry.stands_for > 1:
        parts.append(text("reminder.stands_for", language, count=entry.stands_for))
    words = "\n\n".join(filter(None, parts)) or text("reminder.due", language)
    return JobResult("done", vault.masked(words), notice=notice_id(entry.occurrence), strangers=day.strangers)


def _agenda(workspace: Workspace, job: Job) -> Briefing:
    """The agenda of the day for a reminder of it; a failure to read it, in words, keeps no reminder back."""
    if job.user_id or not asks_for_agenda(job.text):
        return Briefing("")
    try:
        return briefing_of(workspace, workspace.clock.now().astimezone(job.zone).date(), job)
    except Exception as error:  # a reminder comes, whatever is wrong with the notes or with the reading of them
        logger.warning("the facts for the reminder %s", job.id, exc_info=True)
        return Briefing(failure_text(error))


def _plain_briefing(workspace: Workspace, job: Job, missing: str) -> JobResult:
    """The briefing without a model; a failure to make it is its result, as that of a run is."""
    try:
        return plain_briefing(workspace, job, missing)
    except Exception as error:
        logger.warning("the job %s failed", job.id, exc_info=True)
        return JobResult("failed", reason=failure_text(error))


TURN = "job "
"""The beginning of the name of each turn for a job."""
PATIENCE = 600.0
"""Seconds for which an occurrence waits for its turn, or for the remote, before it is skipped."""
REMINDER_PATIENCE = 45.0
"""Seconds for which a reminder waits for a remote that does not answer."""
_LONGEST_WAIT = 60.0
_ELSEWHERE = Sentence("another machine ran it")

logger = logging.getLogger(__name__)


class Awake(Protocol):
    """Is told of what wakes the agent, and of its work; what is put into the list was done in it. `ran` is told how a
    run of a job has ended, once that is written."""

    def wake(self, reason: str) -> None: ...

    def working(self, title: str) -> AbstractContextManager[list[str]]: ...

    def ran(self, job: str, outcome: Outcome) -> None: ...


class Ask(Protocol):
    """Asks the person whether an occurrence may run, and adds its row to the history, in one commit."""

    def __call__(self, entry: PendingRun, row: HistoryRow, /) -> object: ...


@dataclass(frozen=True, slots=True)
class JobWorker:
    """Runs jobs. `done` takes the turns that are to be handed over, `awake` is told of the work, `notify` takes
    notices; `missing` returns why no model can be asked, empty if one can."""

    workspace: Workspace
    open_runs: OpenRuns
    claims: Claims
    ledger: OccurrenceLedger
    procedures: Procedures
    ask: Ask
    done: Callable[[Turn], object]
    awake: Awake
    notify: Notify
    missing: Callable[[], str] = lambda: ""

    def work(self, entry: PendingRun, cancelled: Cancelled) -> None:
        """One try to run an occurrence, or to write what its run came to. Raises nothing."""
        try:
            if entry.ended is None:
                with job_lock(self.workspace.vault, entry.job.id):
                    self._begin(entry, cancelled)
            self._finish(entry)
        except Retryable as error:
            self._wait(entry, error)
        except (AgentError, OSError) as error:
            logger.warning("the job %s: %s", entry.job.id, failure_text(error))
            entry.waits_for_turn = failure_text(error)
            entry.due = self.workspace.clock.monotonic() + _LONGEST_WAIT

    def run_now(self, entry: PendingRun, cancelled: Cancelled) -> JobResult:
        """Run an occurrence for somebody who waits for it; raises what keeps it from beginning or being written."""
        with job_lock(self.workspace.vault, entry.job.id):
            self._begin(entry, cancelled)
        result = entry.ended[0] if entry.ended is not None else JobResult("skipped", reason=_ELSEWHERE)
        self._finish(entry)
        return result

    def _begin(self, entry: PendingRun, cancelled: Cancelled) -> None:
        """Run the occurrence, if it is this machine's turn and nothing else speaks against it."""
        job, now = entry.job, self.workspace.clock.now()
        if job.only_wakes:
            self.ledger.begin(entry.occurrence.key, now)
            self.awake.wake(job.title)
            entry.ended = JobResult("nothing"), self._row(entry, "nothing")
            return
        if not job.run_on and entry.turn is None:
            self._take_turn(entry)
        if self._is_recorded(entry):
            self.ledger.decide(entry.occurrence.key, "skipped", now, _ELSEWHERE)
            self._end(entry)
            return
        if job.approval_required and not entry.is_approved:
            self.ask(entry, self._row(entry, "waits"))
            self.ledger.decide(entry.occurrence.key, "waits", now)
            self._end(entry)
            return
        missing = "" if job.task is not None or job.remind else self.missing()
        self.ledger.begin(entry.occurrence.key, now)
        if missing and not job.user_id and asks_for_agenda(job.text):
            result = with_notice(_plain_briefing(self.workspace, job, missing), entry.occurrence)
            delivery = delivery_of(self.workspace, job, result, now)
            row = replace(self._row(entry, result.outcome, result.reason), started=now, delivery=delivery)
            entry.ended = result, row
            return
        if missing:
            row = replace(self._row(entry, "failed", missing), started=now)
            entry.ended = JobResult("failed", reason=missing), row
            return
        if job.remind:
            result = reminder_of(self.workspace, entry)
            delivery = delivery_of(self.workspace, job, result, now)
            entry.ended = result, replace(self._row(entry, "done"), started=now, delivery=delivery)
            return
        machine = self.claims.machine.name
        with self.awake.working(job.title) as done:
            began = in_machine_seconds(self.workspace.clock).monotonic()
            attempt = JobAttempt(self.workspace, entry, machine, now, began, cancelled)
            entry.ended = attempt.perform(self.open_runs, self.procedures)
            if entry.ended[0].outcome == "done":
                done.append(job.title)

    def _take_turn(self, entry: PendingRun) -> None:
        """Take this machine's turn. A reminder comes without one after `REMINDER_PATIENCE` if nobody can be asked:
        two machines that do not reach each other may both remind, and none is worse. Raises what `take_turn` does."""
        try:
            entry.turn = take_turn(self.claims, TURN + entry.job.id)
        except AnotherMachineHasIt:
            raise
        except Retryable:
            if not entry.job.remind or self.workspace.clock.monotonic() - entry.since < REMINDER_PATIENCE:
                raise
        entry.waits_for_turn = ""

    def _finish(self, entry: PendingRun) -> None:
        """Write what the run came to, and note it in the ledger."""
        if entry.ended is None:
            return
        result, row = entry.ended
        vault, job = self.workspace.vault, entry.job
        notify_answer(self.notify, job, row.planned, result)
        self._keep_turn(entry)
        is_unsaid = self._is_unsaid(entry, result)
        if not is_unsaid and not is_written(rows_of(vault, job.id), row):
            write_result(self.workspace, job, row, result)
        vault_for(self.workspace, row).commit_held(vault.held_of(result.session))
        self.ledger.settle(entry.occurrence.key, result.outcome, vault.clock.now(), result.reason)
        self.awake.ran(job.id, result.outcome)
        entry.ended = None
        self._end(entry)
        if result.outcome == "failed":
            self._after_failure(entry, result)

    def _is_unsaid(self, entry: PendingRun, result: JobResult) -> bool:
        """True for an occurrence that only wakes the agent, and one of which the history has another machine's row."""
        return entry.job.only_wakes or result.outcome == "skipped" and self._is_recorded(entry)

    def _after_failure(self, entry: PendingRun, result: JobResult) -> None:
        """Try it again as the job says, or say that the job is stopped; one of once is tried again by `OnceTries`."""
        job, retry = entry.job, entry.job.retry
        if job.is_once:
            return
        if entry.attempt <= retry.most:
            wait = retry.seconds_after(entry.attempt)
            entry.attempt, entry.is_over = entry.attempt + 1, False
            entry.due = self.workspace.clock.monotonic() + wait
            return
        found, most = job_record(self.workspace, job), self.workspace.settings.jobs.max_consecutive_failures
        if found.is_stopped and found.consec_failures == most:
            notify_stopped(self.workspace, self.notify, job, result, most)

    def _keep_turn(self, entry: PendingRun) -> None:
        """Keep the turn until the result is sent; while the remote is away, that is tried later."""
        try:
            if entry.turn is not None:
                entry.turn.finish()
        except Retryable as error:
            logger.info("%s: not kept: %s", entry.turn.claim.what if entry.turn else "", error.message)

    def _end(self, entry: PendingRun) -> None:
        entry.is_over, turn, entry.turn = True, entry.turn, None
        if turn is not None:
            self.done(turn)

    def _wait(self, entry: PendingRun, error: Retryable) -> None:
        """Try again later, less and less often; after `PATIENCE` an occurrence that has not begun is skipped. While
        another machine may run it, that takes as long as a run does. A reminder is never skipped."""
        now = self.workspace.clock.monotonic()
        entry.tries += 1
        entry.due = now + (1.0 if isinstance(error, LockHeld) else min(2.0**entry.tries, _LONGEST_WAIT))
        entry.waits_for_turn = failure_text(error)
        if entry.ended is not None:
            return
        is_elsewhere = isinstance(error, AnotherMachineHasIt)
        if entry.job.remind and not is_elsewhere:
            entry.due = min(entry.due, max(now + 1.0, entry.since + REMINDER_PATIENCE))
        longest = longest_run(self.workspace, entry.job) if is_elsewhere else 0.0
        if not entry.job.remind and now - entry.since >= PATIENCE + longest:
            reason = failure_text(error)
            entry.ended = JobResult("skipped", reason=reason), self._row(entry, "skipped", reason)

    def _is_recorded(self, entry: PendingRun) -> bool:
        """True if another machine has run an occurrence that is new to this one."""
        is_new = entry.attempt == 1 and not entry.is_approved
        return is_new and is_recorded(rows_of(self.workspace.vault, entry.job.id), entry.occurrence.at)

    def _row(self, entry: PendingRun, outcome: Outcome, reason: str = "") -> HistoryRow:
        """A row about an occurrence without a run."""
        at, machine = entry.occurrence.at, self.claims.machine.name
        return HistoryRow(at, outcome, reason=reason, machine=machine, attempt=entry.attempt, missed=entry.missed)


def job_lock(vault: Vault, job: str) -> AbstractContextManager[None]:
    """Be the only process on this machine that runs a job; entering raises `LockHeld`."""
    return run_registry(vault).held(f"job-{vault.content_id(job.encode())[:16]}")
