"""The jobs of one vault, for the daemon: each occurrence runs at most once, and none is left out without a word.

What is due is asked in the daemon's turn (`schedule.planner`); a run is work for the pool. Notes in `jobs/` hold from
the next turn after they were changed. A daemon that was killed during a run says so in the job's history at its next
start, and does not run it again.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime, timedelta
from functools import partial

from agent.asking.answers import mark_taken
from agent.background.failures import failure_text
from agent.background.jobs.once import OnceTries, PendingRun, retries
from agent.background.jobs.problem_lines import problem_edits, write_problem_lines
from agent.background.jobs.recording import (
    Notify,
    Procedures,
    killed_row,
    row_requests,
    rows_of,
    write_request_commit,
    write_rows,
)
from agent.background.jobs.resumed import job_of, write_after_wait
from agent.background.jobs.triggered import LEAST_PAUSE, Triggered
from agent.background.jobs.worker import Awake, JobWorker, job_lock
from agent.background.part import PACE
from agent.background.pool import Pool, Priority
from agent.background.resume import OpenRuns
from agent.background.routine import paths_of
from agent.background.turns import TurnsToGiveBack
from agent.config.setting_files import SettingFiles
from agent.dataclass import dataclass
from agent.errors import AgentError, LockHeld, Retryable
from agent.events.types import FilesChanged, Origin
from agent.loop.outcome import Ended
from agent.markdown.changes import NoteChange
from agent.runs.job_approvals import occurrence_of, question, refusal_of, settle_job_approvals
from agent.runs.job_upkeep import job_record
from agent.schedule.conditions import ChangesReady
from agent.schedule.first_seen import first_seen_table
from agent.schedule.history import HistoryRow
from agent.schedule.job import PROBLEM, Job
from agent.schedule.ledger import OccurrenceLedger, split_key
from agent.schedule.occurrences import Occurrence
from agent.schedule.planner import Due, LeftOut, Planner
from agent.schedule.shelf import GoalNotes, JobShelf, Shelf, is_job_note
from agent.texts import text
from agent.vault.folders import APPROVALS, JOB_HISTORY
from agent.workspace.workspace import Workspace, reload_settings

LOOK_AGAIN = 300.0
"""Seconds after which the notes are looked at without a hint: what an approval lets count changes no note."""
SETTINGS = 5.0
"""Seconds after which the settings of the schedule are read again, if their files may have changed."""
AGAIN = 10.0
"""Seconds until rows that could not be written are tried again."""
SYNC_FIRST = 120.0
"""Seconds until what was missed is written down where other machines may have run it: time for a round of sync."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Jobs:
    """The jobs of one vault. `awake` is told of their work, `notify` takes notices about it; `missing` returns why no
    model can be asked, `goals` the notes that may be goals, if they are known."""

    workspace: Workspace
    pool: Pool
    open_runs: OpenRuns
    turns: TurnsToGiveBack
    procedures: Procedures
    awake: Awake
    notify: Notify
    missing: Callable[[], str]
    goals: Callable[[], frozenset[str] | None]
    shelf: Shelf = field(default_factory=Shelf, init=False)
    runs: list[PendingRun] = field(default_factory=list, init=False)
    ledger: OccurrenceLedger = field(init=False)
    planner: Planner = field(init=False)
    _notes: JobShelf = field(init=False)
    _goals: GoalNotes = field(init=False)
    _triggered: Triggered = field(init=False)
    _once: OnceTries = field(init=False)
    _left: list[tuple[float, LeftOut]] = field(default_factory=list, init=False)
    _ended: list[Ended] = field(default_factory=list, init=False)
    _touched: dict[str, float] = field(default_factory=dict, init=False)
    _lines_at: float | None = field(default=None, init=False)
    _rows: dict[str, tuple[Job, list[HistoryRow]]] = field(default_factory=dict, init=False)
    _decisions: list[tuple[str, str, str]] = field(default_factory=list, init=False)
    _by_id: dict[str, Job] = field(default_factory=dict, init=False)
    _look_at: float = field(default=0.0, init=False)
    _settings_at: float = field(default=0.0, init=False)
    _files: SettingFiles = field(init=False)
    _is_enabled: bool = field(default=False, init=False)
    _is_begun: bool = field(default=False, init=False)
    _write_at: float = field(default=0.0, init=False)
    _is_decided: bool = field(default=True, init=False)
    _expire_at: datetime | None = field(default=None, init=False)
    _error: str = field(default="", init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        vault, settings = self.workspace.vault, self.workspace.settings
        self._files = SettingFiles.of(vault.place.root, vault.id)
        self.ledger = OccurrenceLedger(vault.records)
        self.planner = Planner(self.ledger, first_seen_table(vault.records), settings.schedule.days)
        self._goals = GoalNotes(vault, settings.vault.language, self.goals)
        self._notes = JobShelf(vault, self._goals)
        is_of_job = lambda session: bool(job_of(self.workspace, session))  # noqa: E731
        self._triggered = Triggered(is_of_job, vault.records)
        self._once = OnceTries(self.workspace, self.ledger)

    @property
    def problem(self) -> str:
        """What does not work, in one line; empty if all does."""
        notes = [f"{each.path}: {each.message}" for each in self.shelf.problems]
        waits = [f"{each.job.id}: {each.waits_for_turn}" for each in list(self.runs) if each.waits_for_turn]
        return "; ".join(filter(None, [self._error, *notes, *waits]))

    def start(self, _: object) -> None:
        """Load the jobs; write down what a crash has interrupted, and go on with what failed."""
        if self.workspace.settings.schedule.enabled:
            self._begin()

    def _begin(self) -> None:
        self._is_begun = self._is_enabled = True
        self._reload()
        self._triggered.restore(self.workspace.clock.monotonic())
        for key in (interrupted := self.ledger.open()):
            self._note_interrupted(key)
        again = retries(self.workspace, self._by_id.values(), self._machine)
        self.runs += [each for each in again if each.occurrence.key not in interrupted]
        self._write()

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """Notes have changed: jobs among them hold from now on, and some start jobs."""
        vault = self.workspace.vault
        for each in event.events:
            paths = paths_of(each)
            if any(is_job_note(vault, path) or vault.home.holds(path, JOB_HISTORY, APPROVALS) for path in paths):
                self._look_at = 0.0
                self._touched |= dict.fromkeys(paths, event.now) if each.origin is not Origin.OWN else {}
            if self._goals.changed(paths):
                self._look_at = 0.0
            self._is_decided |= any(vault.home.holds(path, APPROVALS) for path in paths)
        self._triggered.changed(event)

    def take_in(self, ended: Ended) -> None:
        """Take the end of a run that had waited for its person; called from the run's thread."""
        with self._lock:
            self._ended.append(ended)

    def heard(self, event: object) -> None:
        """Any event: some start jobs. Also called from the threads of runs."""
        self._triggered.heard(event)

    def turn(self, now: float) -> float:
        """Begin what is due, write down what was missed, and go on with what could not be done before."""
        try:
            if self._may_work(now):
                self._tend(now)
                self._error = ""
        except Retryable as error:
            self._write_at = now + AGAIN
            logger.info("jobs: not yet: %s", error.message)
        except (AgentError, OSError) as error:
            self._write_at = now + AGAIN
            self._error = failure_text(error)
        is_busy = self.runs or self._lines_at is not None or self._triggered.waits
        return 0.0 if is_busy else min(PACE, self.planner.seconds_left(self.workspace.clock.now()))

    def _tend(self, now: float) -> None:
        if now >= self._look_at:
            self._look_at = now + LOOK_AGAIN
            self._reload()
        self._take_answers()
        clock, wall = self.workspace.clock, self.workspace.clock.now()
        for each in self.planner.look(wall, clock.monotonic()):  # read together: their distance tells of a sleep
            self._take(each, now)
        while self._left and now >= self._left[0][0]:
            self._leave_out(self._left.pop(0)[1])
        self.runs += self._once.due(wall, now, {each.job.id for each in self.runs})
        for ready in self._triggered.due(now):
            self._trigger(ready, wall, now)
        self._step(now)
        self._finish_waiting()
        self._write_lines(now)
        if now >= self._write_at:
            self._write()
        self._triggered.save({each.job.id: each.paths for each in self.runs if each.is_waiting and each.paths})

    def _may_work(self, now: float) -> bool:
        """True while `schedule.enabled` is on: the person may switch it, and change the days, while the daemon runs."""
        if now >= self._settings_at:
            self._settings_at = now + SETTINGS
            if self._files.may_have_changed():
                schedule = reload_settings(self.workspace).settings.schedule
                self._is_enabled, self.planner.days = schedule.enabled, schedule.days
                self._files.were_read()
            if self._is_enabled and not self._is_begun:
                self._begin()
        return self._is_enabled

    def close(self) -> None:
        """Once the pool has ended: write what runs came to, and the last heartbeat."""
        with suppress(AgentError, OSError):
            for entry in self.runs:
                if entry.ended is not None:
                    self._worker().work(entry, lambda: True)
            self._write()
            self.ledger.close()

    def _reload(self) -> None:
        """The notes as they are now. A job that failures have stopped is followed by no planner."""
        self.shelf = self._notes.load()
        name, here = self.turns.claims.machine.name.casefold(), []
        for job in self.shelf.jobs:
            if job.run_on and job.run_on.casefold() != name:
                continue
            is_stopped = job.status == "active" and job_record(self.workspace, job).is_stopped
            here.append(replace(job, status="error") if is_stopped else job)
        self._by_id = {job.id: job for job in here}
        self._lines_at = self.workspace.clock.monotonic()
        self.planner.set_jobs(here, self.workspace.clock.now())
        self._triggered.set_jobs(here)
        self._once.set_jobs(here, self._machine)
        for entry in self.runs:
            if entry.job.id not in {job.id for job in self.shelf.jobs}:
                entry.cancelled.set()

    def _take(self, planned: Due | LeftOut, now: float) -> None:
        match planned:
            case Due(job, occurrence, stands_for):
                self._consider(PendingRun(job, occurrence, now, stands_for))
            case LeftOut(job) as left if self.turns.claims.remote is not None and not job.run_on:
                self._left.append((now + SYNC_FIRST, left))
            case LeftOut() as left:
                self._leave_out(left)

    def _leave_out(self, left: LeftOut) -> None:
        """Write down what did not run, unless another machine has run it. A wake-up leaves no row, nor does a procedure
        that other machines may have done without finding anything to do."""
        job, last, outcome, reason = left.job, left.last, left.outcome, left.reason
        is_shared = self.turns.claims.remote is not None and not job.run_on
        start, end = left.first.at.timestamp(), last.at.timestamp()
        rows = rows_of(self.workspace.vault, job.id) if is_shared or job.is_once else ()
        is_done = any(start <= row.planned.timestamp() <= end for row in rows)
        if job.only_wakes or is_done or (is_shared and job.task is not None):
            self.ledger.decide(last.key, outcome, self.workspace.clock.now(), reason)
            return
        missed = left.count if left.count > 1 else 0
        self._add_row(job, HistoryRow(last.at, outcome, reason=reason, machine=self._machine, missed=missed))
        self._decisions.append((last.key, outcome, reason))

    def _trigger(self, ready: ChangesReady, at: datetime, now: float) -> None:
        """A change or an event starts a job. What comes up while it waits, or right after it has run, is one more run
        for all of it."""
        job = ready.job
        waiting = next((each for each in self.runs if each.job.id == job.id and each.is_waiting), None)
        if waiting is not None:
            waiting.paths = tuple(dict.fromkeys((*waiting.paths, *ready.paths)))
            return
        occurrence = Occurrence(job.id, at.astimezone(job.zone).replace(microsecond=0))
        while self.ledger.has(occurrence.key):  # a run of the same second is over already
            occurrence = Occurrence(job.id, occurrence.at + timedelta(seconds=1))
        entry = PendingRun(job, occurrence, now, paths=ready.paths, is_triggered=True)
        last = self.ledger.last_begin(job.id)
        if job.cooldown_seconds:
            self._consider(entry)
            return
        if last is not None:
            ago = (at - last).total_seconds()
            entry.due = now + LEAST_PAUSE - ago if 0 <= ago < LEAST_PAUSE else 0.0
        self.runs.append(entry)

    def _consider(self, entry: PendingRun) -> None:
        """Have an occurrence run, unless the last run is not long ago or goes on here. Where another machine may run
        it, that it is left out is written down later, if it did not."""
        job, language = entry.job, self.workspace.settings.vault.language
        pause = job.cooldown_seconds
        last = self.ledger.last_begin(job.id) if pause else None
        others = sum(each.job.id == job.id and not each.is_over and not each.waits_to_begin for each in self.runs)
        reason = ""
        if others >= job.max_concurrency and not job.remind:
            reason = text("jobs.overlap", language)
        elif last is not None and timedelta() <= self.workspace.clock.now() - last < timedelta(seconds=pause):
            reason = text("jobs.cooldown", language, seconds=pause)
        if not reason:
            self.runs.append(entry)
            return
        occurrence = entry.occurrence
        self._take(LeftOut(job, occurrence, occurrence, entry.stands_for, "skipped", reason), entry.since)

    def _step(self, now: float) -> None:
        """Submit what is due."""
        going_on = [each for each in self.runs if not each.is_over or each.is_running]
        self._look_at = 0.0 if len(going_on) < len(self.runs) else self._look_at  # what has ended may be tried again
        self.runs = going_on
        for entry in self.runs:
            if now >= entry.due and not entry.is_running and not entry.is_over:
                work = partial(self._worker().work, entry)
                priority = Priority.NETWORK if entry.job.remind else Priority.JOB  # it waits for no run of a model
                entry.work = self.pool.submit(work, key=f"job {entry.occurrence.key}", priority=priority)

    def _worker(self) -> JobWorker:
        shared = self.workspace, self.open_runs, self.turns.claims, self.ledger, self.procedures
        return JobWorker(*shared, self._ask, self.turns.add, self.awake, self.notify, self.missing)

    def _ask(self, entry: PendingRun, row: HistoryRow) -> None:
        """Ask whether an occurrence may run."""
        settings, job = self.workspace.settings, entry.job
        note = question(
            self.workspace.vault,
            job,
            entry.occurrence,
            entry.stands_for,
            settings.tools.approval_hours,
            settings.vault.language,
        )
        rows = row_requests(self.workspace, {job.id: (job, [row])})
        write_request_commit(self.workspace, job, (*rows, note))

    def _take_answers(self) -> None:
        """Run what its person has said yes to, and write down the rest."""
        now = self.workspace.clock.now()
        if not self._is_decided and (self._expire_at is None or now < self._expire_at):
            return
        self._is_decided, self._expire_at = False, now + timedelta(minutes=10)
        for asked in settle_job_approvals(self.workspace.vault):
            job = self._by_id.get(asked.name)
            mark_taken(self.workspace.vault, asked)
            if job is None:
                continue
            occurrence = occurrence_of(asked)
            refusal = refusal_of(job, asked, self.workspace.settings.vault.language)
            if refusal:
                self._add_row(job, HistoryRow(occurrence.at, "refused", reason=refusal, machine=self._machine))
            else:
                at, stands_for = self.workspace.clock.monotonic(), int(asked.facts["stands_for"])
                self.runs.append(PendingRun(job, occurrence, at, stands_for, is_approved=True))

    def _note_interrupted(self, key: str) -> None:
        """A run that has begun and not ended: the process was killed; the row of one that another runs now waits."""
        id, second = split_key(key)
        with suppress(LockHeld), job_lock(self.workspace.vault, id):
            job = self._by_id.get(id)
            if job is None or job.only_wakes:
                self._decisions.append((key, "interrupted", ""))
            elif job.remind:  # its notice is raised once, whatever was done before the kill
                occurrence = Occurrence(id, datetime.fromtimestamp(second, job.zone))
                self.runs.append(PendingRun(job, occurrence, self.workspace.clock.monotonic(), is_approved=True))
            else:
                row = killed_row(self.workspace, job, second, self.ledger.last_begin(id), self._machine)
                self._add_row(job, row)
                self._decisions.append((key, row.outcome, row.reason))

    def _finish_waiting(self) -> None:
        """Write what came of runs that had waited for their person."""
        while self._ended:
            hearers = self.procedures, self.notify, self.awake.ran
            write_after_wait(self.workspace, self._by_id, self._ended[0], self._machine, *hearers)
            with self._lock:
                self._ended.pop(0)

    def _write_lines(self, now: float) -> None:
        """Say in the notes what is wrong with them, once they lie still."""
        if self._lines_at is None or now < self._lines_at:
            return
        quiet, vault = self.workspace.settings.inbox.quiet_seconds, self.workspace.vault
        still = {path: now - at >= quiet for path, at in self._touched.items()}
        language, marked = self.workspace.settings.vault.language, self._notes.containing(PROBLEM)
        problems = [each for each in self.shelf.problems if is_job_note(vault, each.path)]
        edits = problem_edits(vault, problems, marked, still, language)
        if edits:
            write_problem_lines(vault, edits)
        self._touched = {path: at for path, at in self._touched.items() if not still[path]}
        self._lines_at = now + quiet if self._touched else None

    def _add_row(self, job: Job, row: HistoryRow) -> None:
        self._rows.setdefault(job.id, (job, []))[1].append(row)

    def _write(self) -> None:
        """Write the rows that came up, in one commit, then note the decisions: so a kill in between forgets none."""
        write_rows(self.workspace, self._rows)
        self._rows, decisions, self._decisions = {}, self._decisions, []
        now = self.workspace.clock.now()
        for key, outcome, reason in decisions:
            self.ledger.settle(key, outcome, now, reason)

    @property
    def _machine(self) -> str:
        return self.turns.claims.machine.name
