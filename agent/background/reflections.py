"""Reflects on runs once they are over and their person is silent, on what the person did about them later, and once a
day on all of them.

What was looked at is remembered, so that a daemon that begins anew does nothing twice. What a model cannot be asked
about now is tried again later, for a day.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import field
from datetime import date

from agent.background.failures import failure_text
from agent.background.routine import PATIENCE, LookEvery, On, Routine, paths_in
from agent.background.turns import TurnsToGiveBack
from agent.dataclass import dataclass
from agent.errors import AgentError, LimitReached
from agent.events.growth import ReflectionWritten
from agent.events.runs import TaskCompleted
from agent.events.types import DaemonStarted, EditsCommitted, FilesChanged, Origin
from agent.growth.lessons.reflecting import Reflecting
from agent.growth.lessons.reflection import Reflection
from agent.growth.lessons.rounds import ReflectionRound, day_to_review, is_reviewed
from agent.llm.messages import Cancelled
from agent.markdown.changes import NoteChange
from agent.runs.accounts import Accounts
from agent.runs.status import is_of_growth
from agent.vault.folders import SESSIONS
from agent.vault.sync.turns import take_turn
from agent.workspace.workspace import Workspace, reload_settings

TURN = "reflection "
"""The beginning of the name of the turn for a day's review."""
TRIES = 3
"""How often something is tried for which the model fails."""
_START, _EDITS, _DAY = "start", "edits", "day"
"""What a look is wanted for beside the sessions at some paths."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Reflections:
    """The reflections of one vault's daemon; `accounts` opens the models of now."""

    workspace: Workspace
    turns: TurnsToGiveBack
    accounts: Callable[[], Accounts]
    publish: Callable[[object], object]
    _tries: dict[str, int] = field(default_factory=dict, init=False)

    def routine(self) -> Routine:
        """Reflect once the conversations are silent, as the next words may be about their runs."""
        return Routine(
            "reflections",
            self.attend,
            on=(
                On(DaemonStarted, lambda event: (_START, _EDITS)),  # something may have happened while nobody watched
                On(FilesChanged, self._sessions_of_here),
                On(EditsCommitted, lambda event: (_EDITS,), hastens=False),  # some of it may be a run's
                On(TaskCompleted, self._run_ended),
            ),
            looks=(LookEvery(60.0, lambda: self._day_due() is not None, _DAY),),
            quiet=20.0,
            retry=900.0,
            reports_retryable=False,
            patience=PATIENCE,
        )

    def _sessions_of_here(self, event: FilesChanged[NoteChange]) -> tuple[str, ...]:
        """The sessions that have changed here; what git has brought is looked at where it was said."""
        here = (each for each in event.events if each.origin in (Origin.OWN, Origin.HUMAN))
        return paths_in(here, self.workspace.vault.home, SESSIONS)

    def _run_ended(self, event: TaskCompleted) -> tuple[str, ...]:
        """The session of a run that has ended, in whichever process; none of the agent's own growth."""
        return () if is_of_growth(event.job) else (event.session,)

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
        """Tell what is learned; what has failed `TRIES` times is given up. Raises the error of an earlier try."""
        try:
            for each in found:
                self._tell(each)
        except (AgentError, OSError) as error:
            self._tries[name] = self._tries.get(name, 0) + (not isinstance(error, LimitReached))
            if self._tries[name] < TRIES:
                raise
            logger.warning("%s is not reflected on: %s", name, failure_text(error))
        self._tries.pop(name, None)

    def _review(self, work: ReflectionRound, day: date, cancelled: Cancelled) -> None:
        """Review a day, if it is the turn of this machine."""
        turn = take_turn(self.turns.claims, f"{TURN}{day.isoformat()}")
        try:
            if not is_reviewed(self.workspace.vault, day):
                self._try(day.isoformat(), filter(None, map(work.review, (day,), (cancelled,))))
            if not is_reviewed(self.workspace.vault, day):  # given up
                work.pass_over(day)
        finally:
            self.turns.add(turn)

    def _day_due(self) -> date | None:
        """The day to review now; None if there is none."""
        settings, now = self.workspace.settings, self.workspace.clock.now()
        return day_to_review(self.workspace.vault, now, settings.reflection.hour) if settings.growth.enabled else None

    def _tell(self, reflection: Reflection) -> None:
        count = len(reflection.strategies)
        is_clean = not reflection.strangers
        self.publish(ReflectionWritten(reflection.path, reflection.trigger, reflection.runs, count, is_clean))
