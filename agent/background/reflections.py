"""Reflects on runs once they are over and their person is silent, on what the person did about them later, and once a
day on all of them.

What was reflected on already is in the notes, so that a daemon that begins anew does nothing twice. What a model cannot
be asked about now is tried again later, and only counted after a day.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import field
from datetime import date, datetime, time, timedelta

from agent.background.failures import failure_text
from agent.background.routine import PATIENCE, LookEvery, On, Routine
from agent.background.touched import changes_in
from agent.background.turns import TurnsToGiveBack
from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.errors import AgentError, LimitReached
from agent.events.growth import ReflectionWritten
from agent.events.runs import TaskCompleted
from agent.events.types import DaemonStarted, EditsCommitted, FilesChanged
from agent.growth.reflections.day import day_to_review, is_reviewed
from agent.growth.reflections.reflecting import Reflecting
from agent.growth.reflections.reflection import Reflection
from agent.growth.reflections.rounds import ReflectionRound
from agent.llm.messages import Cancelled
from agent.runs.accounts import Accounts
from agent.runs.status import is_of_growth
from agent.schedule.occurrences import next_times
from agent.schedule.shelf import JobShelf
from agent.vault.folders import SESSIONS
from agent.vault.sync.turns import take_turn
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace, reload_settings

TURN = "reflection "
"""The beginning of the name of the turn for a day's review."""
TRIES = 3
"""How often something is tried for which the model fails; then it is only counted."""
_START, _EDITS, _DAY = "start", "edits", "day"
"""What a look is wanted for beside the sessions at some paths."""
GRACE = timedelta(hours=1)
"""How long the review waits for a look back that is planned for the same hour: both are one run then."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Reflections:
    """The reflections of one vault's daemon; `accounts` opens the models of now."""

    workspace: Workspace
    turns: TurnsToGiveBack
    accounts: Callable[[], Accounts]
    publish: Callable[[object], object]
    _empty: date | None = field(default=None, init=False)
    """The day that was to be reviewed, and on which no run had ended."""
    _tries: dict[str, int] = field(default_factory=dict, init=False)

    def routine(self) -> Routine:
        """Reflect once the conversations are silent, as the next words may be about their runs."""
        return Routine(
            "reflections",
            self.attend,
            on=(
                On(DaemonStarted, lambda event: (_START, _EDITS)),  # something may have happened while nobody watched
                On(FilesChanged, changes_in(self.workspace.vault.home, SESSIONS)),
                On(EditsCommitted, lambda event: (_EDITS,), hastens=False),  # some of it may be a run's
                On(TaskCompleted, self._run_ended),
            ),
            looks=(LookEvery(60.0, lambda: self._day_due() is not None, _DAY),),
            quiet=20.0,
            retry=900.0,
            is_retryable_told=False,
            patience=PATIENCE,
        )

    def _run_ended(self, event: TaskCompleted) -> tuple[str, ...]:
        """The session of a run that has ended, in whichever process; none of the agent's own growth."""
        if is_of_growth(event.job):
            return ()
        self._empty = None
        return (event.session,)

    def attend(self, wanted: dict[str, None], cancelled: Cancelled) -> None:
        """Do what is wanted; each reflection is a commit, so that it may be stopped between two. Raises what the model
        and a transaction raise: what is left is kept in `wanted`."""
        fresh = reload_settings(self.workspace)
        if not fresh.settings.growth.enabled:
            return
        work = ReflectionRound(Reflecting(fresh, self.accounts()))
        if _START in wanted:
            wanted |= dict.fromkeys(work.recent_sessions())
            wanted.pop(_START)
        for path in [each for each in wanted if each not in (_EDITS, _DAY)]:
            self._try(path, work.look_at_session(path, cancelled))
            if cancelled():
                return
            wanted.pop(path)
        if _EDITS in wanted:
            self._try(_EDITS, work.look_at_edits(cancelled))
            wanted.pop(_EDITS)
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
        turn = take_turn(self.turns.claims, f"{TURN}{day.isoformat()}")
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
            self.turns.add(turn)

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
        if not schedule_switch(self.workspace).enabled:
            return False
        begin = in_clock_zone(datetime.combine(now.date(), time(self.workspace.settings.reflection.hour)), now)
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
