"""Looks for patterns once a day, after something was asked.

The look is at most one commit a day, none if nothing has changed. The day is kept outside the vault:
without it, a look finds the same again.
"""

from collections.abc import Callable
from datetime import date

from agent.background.routine import PATIENCE, On, QuietOn, Routine, changes_in
from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.events.types import FilesChanged
from agent.growth.patterns.likeness import Vectors
from agent.growth.patterns.look import take_patterns
from agent.loop.outcome import RunOutcome
from agent.records.table import Table
from agent.vault.folders import SESSIONS
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Insights:
    """The patterns of one vault's daemon. `vectors` loads the search index's embedder."""

    workspace: Workspace
    publish: Callable[[object], object]
    vectors: Callable[[], Vectors | None]

    def routine(self) -> Routine:
        """A look on each day on which a person has asked for something, once their conversation has come to a pause."""
        session_changes = changes_in(self.workspace.vault.home, SESSIONS)
        return Routine(
            "patterns",
            lambda *_: self.look(),  # one commit or none, so that it is not stopped in between
            on=(
                On(TaskCompleted, _run_ended),
                QuietOn(FilesChanged, lambda event: bool(session_changes(event))),
            ),
            quiet=300.0,
            key="insights",
            patience=PATIENCE,
        )

    def look(self) -> None:
        """Look for patterns and bring their notes up to date, unless that was done today."""
        today = self.workspace.clock.now().date()
        if self._looked.get() == today:
            return
        take_patterns(self.workspace, self.vectors(), self.publish)
        self._looked.put(today)

    @property
    def _looked(self) -> Table[date]:
        """The day of the last look."""
        return Table(self.workspace.vault.records, "patterns-looked", date, is_flushed=False)


def _run_ended(event: TaskCompleted) -> tuple[str, ...]:
    return () if event.job or event.outcome != RunOutcome.FINISHED else (event.run,)
