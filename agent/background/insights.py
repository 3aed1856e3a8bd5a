"""Looks for patterns once a day after something was asked, and suggests at most one thing after a run.

Work for the pool, once the person has been silent for a while: nothing is suggested while they talk. The look is at
most one commit a day, none if nothing has changed. When that was, and what was suggested already, is in one small file
outside the vault: without it, a look finds the same again, and a suggestion may come once more.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, field
from datetime import datetime
from functools import partial
from pathlib import Path

from agent.background.failures import failure_of, log_failed_work
from agent.background.pool import Pool, Priority
from agent.config import private
from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.events.growth import InitiativeTaken, PatternDetected
from agent.events.runs import TaskCompleted
from agent.events.types import FilesChanged, Tick
from agent.growth.initiative.aims import load_aims
from agent.growth.initiative.evaluate import Initiative, evaluate
from agent.growth.patterns.likeness import Vectors
from agent.growth.patterns.look import DISMISSED_FOR, TOOL, dismissed, look
from agent.growth.patterns.pattern import Pattern
from agent.llm.provider import Cancelled
from agent.loop.records import Began
from agent.loop.session import load_session
from agent.markdown.changes import NoteChange
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.profile.changes import propose_changes
from agent.runs.growth_spend import growth_account
from agent.runs.profile_upkeep import profile_writing
from agent.vault.change import Stamp, actor_of
from agent.vault.folders import SESSIONS
from agent.workspace.workspace import Workspace

KEY = "insights"
STILL = 300.0
"""Seconds without a word of the person's after which their conversation has come to a pause."""
PATIENCE = 20.0
"""Seconds that a look which has begun gets when the daemon stops."""
_FINISHED = "finished"
_FILE = "insights.json"

_STAMP = Stamp(actor_of(growth_account("patterns")), tool=TOOL)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class InsightState:
    """The day (ISO) on which the notes were brought up to date last, and when each subject was suggested: by its
    digest, so that no word of the vault is kept outside it."""

    looked: str = ""
    suggested: Mapping[str, str] = field(default_factory=dict)

    def is_known(self, subject: str, now: datetime) -> bool:
        """True if the subject was suggested lately."""
        return _is_within(self.suggested.get(_digest(subject), ""), now)


@dataclass(slots=True)
class Insights:
    """The patterns and suggestions of one vault's daemon.

    `settled` says whether what people did by hand is recorded; `dismissed_subjects` returns those of the
    suggestions that the person has dismissed lately; `vectors` loads the search index's embedder.
    """

    workspace: Workspace
    pool: Pool
    settled: Callable[[], bool]
    publish: Callable[[object], object]
    vectors: Callable[[], Vectors | None]
    dismissed_subjects: Callable[[], frozenset[str]]
    problem: str = ""
    _ended: TaskCompleted | None = field(default=None, init=False)
    _begin_at: float = field(default=0.0, init=False)
    _patterns: tuple[Pattern, ...] = field(default=(), init=False)
    _found_on: str = field(default="", init=False)
    """The day (ISO) on which `_patterns` were found."""

    def run_ended(self, event: TaskCompleted) -> None:
        """A run has ended: look later, once its person is silent. Only marks it, as the daemon waits for this."""
        if not event.job and event.outcome == _FINISHED:
            self._ended = event
            self._begin_at = self.workspace.clock.monotonic() + STILL

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """A conversation goes on: wait for its next pause."""
        home = self.workspace.vault.home
        if self._ended is not None and any(home.holds(each.path, SESSIONS) for each in event.events):
            self._begin_at = event.now + STILL

    def tick(self, event: Tick) -> None:
        """Submit the work when it is due, and what people did by hand is recorded."""
        ended = self._ended
        if ended is None or event.now < self._begin_at or self.pool.has(KEY) or not self.settled():
            return
        self._ended = None
        work = partial(self._attend, ended)
        future = self.pool.submit(work, key=KEY, priority=Priority.MAINTENANCE, patience=PATIENCE)
        future.add_done_callback(self._over)

    def attend(self, ended: TaskCompleted) -> Initiative | None:
        """Look for patterns if that was not done today, then suggest what follows from a run that has ended."""
        now = self.workspace.clock.now()
        state = self._load()
        today = now.date().isoformat()
        if self._found_on != today:
            state = self._look(state, now)
        if not self._is_owners(ended):
            return None
        found = self._evaluate(ended, state, now)
        if found is not None:
            said = (found.subject, _kind_today(found.subject, now))
            self._save(
                InsightState(state.looked, {**state.suggested, **{_digest(each): now.isoformat() for each in said}})
            )
            self.publish(InitiativeTaken(found.type, found.confidence, found.drive_ref))
            self.publish(found.notice)
        return found

    def _attend(self, ended: TaskCompleted, cancelled: Cancelled) -> Initiative | None:
        """The same as work of the pool; it is one commit or none, so that it is not stopped in between."""
        return self.attend(ended)

    def _look(self, state: InsightState, now: datetime) -> InsightState:
        """Look for patterns; the notes are brought up to date once a day, also by a daemon that was begun again."""
        vault, settings = self.workspace.vault, self.workspace.settings
        found = look(vault, settings.vault.language, now, self.vectors(), settings.attention.quiet)
        today = now.date().isoformat()
        if state.looked != today:
            proposed = propose_changes(profile_writing(self.workspace), found.changes)
            if proposed.requests:
                with vault.transaction("patterns: what repeats", _STAMP, masked=True) as change:
                    change.requests += proposed.requests
            for each in found.written(proposed.blocks):
                self.publish(PatternDetected(each.id, each.kind, each.name, each.confidence, each.frequency))
            recent = {subject: at for subject, at in state.suggested.items() if _is_within(at, now)}
            state = InsightState(today, recent)
            self._save(state)
        self._patterns, self._found_on = found.patterns, today
        return state

    def _evaluate(self, ended: TaskCompleted, state: InsightState, now: datetime) -> Initiative | None:
        vault, language = self.workspace.vault, self.workspace.settings.vault.language
        hidden, subjects, forgotten = dismissed(vault, now), self.dismissed_subjects(), load_tombstones(vault)
        patterns = [
            each
            for each in self._patterns
            if each.id not in hidden and not any(map(forgotten.is_forgotten, (each.name, *each.words)))
        ]

        def is_suppressed(subject: str) -> bool:
            return subject in subjects or any(
                state.is_known(each, now) for each in (subject, _kind_today(subject, now))
            )

        return evaluate(ended.task, load_aims(vault), patterns, is_suppressed, language, self.vectors())

    def _is_owners(self, ended: TaskCompleted) -> bool:
        """True for a run that the vault's owner began themselves, alone with the agent."""
        try:
            session = load_session(self.workspace.vault, ended.session)
        except NoteGone:
            return False
        began = (each.event for each in session.records if isinstance(each.event, Began))
        return any(each.run == ended.run and each.role == "owner" and not each.group for each in began)

    def _over(self, future: "Future[Initiative | None]") -> None:
        error = failure_of(future)
        self.problem = "" if error is None else log_failed_work(logger, "patterns", error)

    @property
    def _file(self) -> Path:
        return self.workspace.vault.private_folder / _FILE

    def _load(self) -> InsightState:
        try:
            said = json.loads(self._file.read_text("utf-8"))
            return InsightState(str(said["looked"]), {str(key): str(at) for key, at in said["suggested"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return InsightState()

    def _save(self, state: InsightState) -> None:
        private.replace(self._file, json.dumps(asdict(state)))


def _is_within(at: str, now: datetime) -> bool:
    try:
        return bool(at) and now - datetime.fromisoformat(at) < DISMISSED_FOR
    except (ValueError, TypeError):
        return False


def _kind_today(subject: str, now: datetime) -> str:
    """The kind of a suggestion, on this day: the third old box in a day is no news, even if it is another one."""
    return f"{subject.partition(':')[0]} {now.date().isoformat()}"


def _digest(subject: str) -> str:
    return hashlib.sha256(subject.encode("utf-8", "surrogateescape")).hexdigest()[:16]
