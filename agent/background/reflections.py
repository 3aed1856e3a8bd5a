"""Reflects on runs once they are over and their person is silent, on what the person did about them later, and once a
day on all of them: work for the pool, after all other work.

What was reflected on already is in the notes, so that a daemon that begins anew does nothing twice. What a model cannot
be asked about now is tried again later, and only counted after a day.
"""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import field
from datetime import date, datetime, time, timedelta

from agent.background.failures import failure_of, failure_text, log_failed_work
from agent.background.pool import Pool, Priority
from agent.background.turns import TurnsToGiveBack
from agent.dataclass import dataclass
from agent.errors import AgentError, LimitReached, Retryable
from agent.events.growth import ReflectionWritten
from agent.events.runs import TaskCompleted
from agent.events.types import EditsCommitted, FilesChanged, Tick
from agent.growth.reflections.day import day_to_review, is_reviewed
from agent.growth.reflections.reflecting import Reflecting
from agent.growth.reflections.reflection import Reflection
from agent.growth.reflections.rounds import ReflectionRound
from agent.llm.provider import Cancelled
from agent.markdown.changes import NoteChange
from agent.runs.accounts import Accounts
from agent.runs.growth_spend import is_of_growth
from agent.schedule.occurrences import next_times
from agent.schedule.shelf import JobShelf
from agent.vault.folders import SESSIONS
from agent.vault.sync.claims import Claims
from agent.vault.sync.turns import take_turn
from agent.workspace.workspace import Workspace, reload_settings

KEY = "reflections"
TURN = "reflection "
"""The beginning of the name of the turn for a day's review."""
STILL = 20.0
"""Seconds without a word in a conversation after which its runs are looked at: the next words may be about them."""
PATIENCE = 20.0
"""Seconds that a reflection which has begun gets when the daemon stops."""
RETRY = 900.0
"""Seconds until something is tried again for which no model could be asked."""
LOOK = 60.0
"""Seconds between two looks whether a day's review is due."""
TRIES = 3
"""How often something is tried for which the model fails; then it is only counted."""
_EDITS, _DAY = "edits", "day"
GRACE = timedelta(hours=1)
"""How long the review waits for a look back that is planned for the same hour: both are one run then."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Reflections:
    """The reflections of one vault's daemon. `settled` says whether what people did by hand is recorded, `accounts`
    opens the models of now."""

    workspace: Workspace
    pool: Pool
    claims: Claims
    settled: Callable[[], bool]
    accounts: Callable[[], Accounts]
    publish: Callable[[object], object]
    problem: str = ""
    _sessions: dict[str, None] = field(default_factory=dict, init=False)
    _has_begun: bool = field(default=False, init=False)
    _has_edits: bool = field(default=False, init=False)
    _begin_at: float = field(default=0.0, init=False)
    _look_at: float = field(default=0.0, init=False)
    _empty: date | None = field(default=None, init=False)
    """The day that was to be reviewed, and on which no run had ended."""
    _tries: dict[str, int] = field(default_factory=dict, init=False)
    _turns: TurnsToGiveBack = field(init=False)

    def __post_init__(self) -> None:
        self._turns = TurnsToGiveBack(self.pool, self.claims, TURN, Priority.MAINTENANCE)

    def start(self, _: object) -> None:
        """Look for what happened while nobody watched."""
        self._turns.start(())
        self._has_begun = self._has_edits = True
        self._begin_at = self.workspace.clock.monotonic() + STILL

    def run_ended(self, event: TaskCompleted) -> None:
        """A run has ended, in whichever process; none of the agent's own growth."""
        if not is_of_growth(event.job):
            self._sessions[event.session] = None
            self._empty = None
            self._begin_at = self.workspace.clock.monotonic() + STILL

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """A conversation goes on, or the person has ticked a box in one."""
        home = self.workspace.vault.home
        for each in event.events:
            if home.holds(each.path, SESSIONS):
                self._sessions[each.path] = None
                self._begin_at = event.now + STILL

    def edits_committed(self, event: EditsCommitted) -> None:
        """The person has changed notes; some of it may be a run's."""
        self._has_edits = True
        self._begin_at = max(self._begin_at, self.workspace.clock.monotonic() + STILL)

    def tick(self, event: Tick) -> None:
        """Submit the work when it is due, and what people did by hand is recorded."""
        self._turns.tick(event.now)
        is_due = bool(self._sessions or self._has_begun or self._has_edits) and event.now >= self._begin_at
        if event.now >= self._look_at:
            self._look_at = event.now + LOOK
            is_due = is_due or (event.now >= self._begin_at and self._day_due() is not None)
        if not is_due or self.pool.has(KEY) or not self.settled():
            return
        future = self.pool.submit(self.attend, key=KEY, priority=Priority.MAINTENANCE, patience=PATIENCE)
        future.add_done_callback(self._over)

    def attend(self, cancelled: Cancelled) -> None:
        """Do what is due; each reflection is a commit, so that it may be stopped between two. Raises what the model and
        a transaction raise: what is left is kept."""
        fresh = reload_settings(self.workspace)
        if not fresh.settings.growth.enabled:
            self._sessions.clear()
            self._has_begun = self._has_edits = False
            return
        work = ReflectionRound(Reflecting(fresh, self.accounts()))
        if self._has_begun:
            self._sessions |= dict.fromkeys(work.recent_sessions())
            self._has_begun = False
        for path in list(self._sessions):
            self._try(path, work.look_at_session(path, cancelled))
            if cancelled():
                return
            self._sessions.pop(path, None)
        if self._has_edits:
            self._try(_EDITS, work.look_at_edits(cancelled))
            self._has_edits = cancelled()
        day = self._day_due()
        if day is not None and not cancelled():
            self._review(work, day, cancelled)

    def _try(self, name: str, found: Iterable[Reflection]) -> None:
        """Tell what is reflected; what has failed `TRIES` times is only counted. Raises the error of an earlier try."""
        try:
            for each in found:
                self._tell(each)
        except (AgentError, OSError) as error:
            self._tries[name] = self._tries.get(name, 0) + (not isinstance(error, LimitReached))
            if self._tries[name] < TRIES:
                raise
            logger.warning("%s is only counted: %s", name, failure_text(error))
        self._tries.pop(name, None)

    def _review(self, work: ReflectionRound, day: date, cancelled: Cancelled) -> None:
        """Review a day, if it is the turn of this machine."""
        turn = take_turn(self.claims, f"{TURN}{day.isoformat()}")
        try:
            if is_reviewed(self.workspace.vault, day):
                return
            found = work.review(day, cancelled, is_last_try=self._tries.get(_DAY, 0) + 1 >= TRIES)
            self._tries.pop(_DAY, None)
            self._empty = day if found is None else None
            if found is not None:
                self._tell(found)
        except (AgentError, OSError):
            self._tries[_DAY] = self._tries.get(_DAY, 0) + 1
            raise
        finally:
            self._turns.add(turn)

    def _day_due(self) -> date | None:
        """The day to review now; None if there is none, or a look back that is planned for this hour will do it."""
        settings, now = self.workspace.settings, self.workspace.clock.now()
        if not settings.growth.enabled:
            return None
        day = day_to_review(self.workspace.vault, now, settings.reflection.hour)
        if day is None or day == self._empty:
            return None
        return None if day == now.date() and self._is_planned(now) else day

    def _is_planned(self, now: datetime) -> bool:
        """True while a job that looks back may still do the review of today."""
        if not self.workspace.settings.schedule.enabled:
            return False
        begin = datetime.combine(now.date(), time(self.workspace.settings.reflection.hour), now.tzinfo)
        if now >= begin + GRACE:
            return False
        jobs = (each for each in JobShelf(self.workspace.vault).load().jobs if each.task == "self_reflection")
        active = (each for each in jobs if each.status == "active")
        times = (next(next_times(each.triggers, each.zone, begin - timedelta(seconds=1)), None) for each in active)
        return any(at is not None and at < begin + GRACE for at in times)

    def _tell(self, reflection: Reflection) -> None:
        count = len(reflection.strategies)
        is_clean = not reflection.strangers
        self.publish(ReflectionWritten(reflection.path, reflection.trigger, reflection.runs, count, is_clean))

    def _over(self, future: "Future[None]") -> None:
        error = failure_of(future)
        self.problem = ""
        if error is None:
            return
        self._begin_at = self.workspace.clock.monotonic() + RETRY
        what = log_failed_work(logger, "reflections", error)
        self.problem = "" if isinstance(error, Retryable) else what
