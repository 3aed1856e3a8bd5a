"""Keeps the vault in order when nothing else goes on: asks about what arrived, settles offers, takes in opinions of
skills, learns, tends memory, and packs the history.

Noticing is quick and done in the daemon's turn. The jobs are work for the pool, one after the other, submitted once the
vault has lain still and what people did by hand is recorded. A job that fails is named in `problem` until it succeeds,
and tried again with the next change, or after `RETRY` seconds.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field
from functools import partial

from agent.background.failures import failure_of, log_failed_work
from agent.background.pool import Pool, Priority
from agent.clock import Clock
from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.events.types import EditsCommitted, FilesChanged, NoteMoved, Origin, Tick
from agent.markdown.changes import NoteChange
from agent.runs.upkeep_jobs import UpkeepJobs
from agent.vault.folders import APPROVALS, QUESTIONS, SESSIONS, SKILL_HISTORY, SKILLS
from agent.watch.classify import VaultEvent

STILL = 2.0
"""Seconds without a change before anything is begun."""
PATIENCE = 20.0
"""Seconds that a job which has begun gets when the daemon stops: an upkeep is one commit or nothing."""
RETRY = 300.0
"""Seconds until a job that has failed is tried again."""
LISTEN = 20.0
"""Seconds between two looks for conversations, and a day, that have fallen silent."""
PACK = 900.0
"""Seconds between two looks at the number of git's loose objects."""
KEY = "maintenance"

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Maintenance:
    """The maintenance of one vault. `settled` says whether what people did by hand is recorded."""

    jobs: UpkeepJobs
    pool: Pool
    clock: Clock
    settled: Callable[[], bool]
    _wanted: dict[str, Callable[[], object]] = field(default_factory=dict, init=False)
    _failed: dict[str, Callable[[], object]] = field(default_factory=dict, init=False)
    _problems: dict[str, str] = field(default_factory=dict, init=False)
    _retry_at: float = field(default=0.0, init=False)
    _begin_at: float = field(default=0.0, init=False)
    _listen_at: float = field(default=0.0, init=False)
    _pack_at: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def problem(self) -> str:
        """The jobs that failed last and why, in one line; empty if none did."""
        with self._lock:
            return "; ".join(f"{name}: {what}" for name, what in self._problems.items())

    def start(self, _: object) -> None:
        """Look for what was done while nobody watched."""
        jobs = self.jobs
        self._want(arrivals=jobs.arrivals, reviews=jobs.reviews, offers=jobs.offers, opinions=jobs.opinions)

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """Files have changed: what follows from it is wanted."""
        found, jobs, home = event.events, self.jobs, self.jobs.workspace.vault.home
        paths = [path for each in found for path in _paths(each)]
        others = {path for each in found if each.origin is not Origin.OWN for path in _paths(each)}
        skills = [path for path in paths if self._is_skill(path)]
        if skills:
            jobs.skills_changed(skills)
            self._want(reviews=jobs.reviews)
        if any(each.origin is Origin.ARRIVED for each in found):
            self._want(arrivals=jobs.arrivals)
        if any(home.holds(path, APPROVALS) for path in others):
            self._want(arrivals=jobs.arrivals, offers=jobs.offers)
        if any(home.holds(path, QUESTIONS) for path in paths):
            self._want(profile=jobs.profile)
        if any(home.holds(path, SESSIONS) for path in others):
            self._want(opinions=jobs.opinions)
        self._want(upkeep=jobs.upkeep)

    def edits_committed(self, event: EditsCommitted) -> None:
        """A person's edits are in the history: they may be opinions of skills, and keep the trust in a skill."""
        self._want(opinions=self.jobs.opinions)
        if skills := tuple(filter(self._is_skill, event.paths)):
            self.jobs.skills_edited(event.commit, skills)
            self._want(reviews=self.jobs.reviews)

    def run_ended(self, event: TaskCompleted) -> None:
        """A run has ended, in whichever process: learn from it, and take in what was said of its skills. Nothing is
        learned from a job's run."""
        if event.job:
            return
        self._want(opinions=self.jobs.opinions)
        if self.jobs.may_learn_from(event):
            self._want(learning=self.jobs.learn)

    def tick(self, event: Tick) -> None:
        """Submit what is wanted, if the vault lies still and nothing else goes on."""
        if event.now >= self._listen_at:
            self._listen_at = event.now + LISTEN
            if self.jobs.has_silent_conversations():
                self._is_due(conversations=self.jobs.conversations)
            if self.jobs.has_quiet_day():
                self._is_due(summary=self.jobs.sum_up)
        if event.now >= self._pack_at:
            self._pack_at = event.now + PACK
            if self.jobs.is_packing_due():
                self._is_due(packing=self.jobs.pack)
        if self._failed and event.now >= self._retry_at:
            self._is_due()
        state = self.pool.state
        if not self._wanted or event.now < self._begin_at or state.running or state.waiting or not self.settled():
            return
        with self._lock:
            wanted, self._wanted = self._wanted, {}
        for name, job in wanted.items():
            future = self.pool.submit(_job(job), key=KEY, priority=Priority.MAINTENANCE, patience=PATIENCE)
            future.add_done_callback(partial(self._done, name, job))

    def _is_skill(self, path: str) -> bool:
        home = self.jobs.workspace.vault.home
        return home.holds(path, SKILLS) and not home.holds(path, SKILL_HISTORY)

    def _want(self, **jobs: Callable[[], object]) -> None:
        """Want these jobs, and those that have failed, once the vault has lain still from now on."""
        self._is_due(**jobs)
        with self._lock:
            self._begin_at = self.clock.monotonic() + STILL

    def _is_due(self, **jobs: Callable[[], object]) -> None:
        """Want these jobs, and those that have failed, whose time has come though nothing has happened."""
        with self._lock:
            self._wanted |= self._failed | jobs
            self._failed = {}

    def _done(self, name: str, job: Callable[[], object], future: "Future[object]") -> None:
        error = failure_of(future)
        if error is None:
            with self._lock:
                self._problems.pop(name, None)
            return
        what = log_failed_work(logger, name, error)
        with self._lock:
            self._problems[name] = what
            self._failed[name] = job
            self._retry_at = self.clock.monotonic() + RETRY


def _job(job: Callable[[], object]) -> Callable[[Callable[[], bool]], object]:
    """A maintenance job as the pool calls it: it is one commit or nothing, so that it is not stopped in between."""
    return lambda cancelled: job()


def _paths(event: VaultEvent) -> tuple[str, ...]:
    return (event.path, event.source) if isinstance(event, NoteMoved) else (event.path,)
