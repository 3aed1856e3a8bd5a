"""The upkeep of a vault's memory, run by a person, by the daemon's maintenance, or after a run if no daemon does it."""

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.memory.profile.changes import Proposed
from agent.memory.upkeep.lifecycle import UpkeepPlan, plan, run
from agent.records.table import Table
from agent.runs.owner import fill_profile
from agent.vault.change import Outcome
from agent.vault.folders import ENTRIES
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Extent:
    """What an upkeep has in view when it begins: the day, and how many entries of that day there are."""

    day: str = ""
    entries: int = 0


@dataclass(frozen=True, slots=True)
class UpkeepDue:
    """What the last upkeep of one vault on this machine had in view."""

    workspace: Workspace

    @property
    def last(self) -> Table[Extent]:
        """What the last upkeep on this machine had in view."""
        return Table(self.workspace.vault.records, "upkeep", Extent, is_flushed=False)

    def is_due(self, now: datetime) -> bool:
        """True if the upkeep should run now; reads one row and the names in one folder."""
        settings = self.workspace.settings.memory
        if not (settings.lifecycle or settings.long_term):
            return False
        last, here = self.last.get() or Extent(), self.extent(now)
        return here.day != last.day or here.entries - last.entries >= settings.lifecycle_entries

    def extent(self, now: datetime) -> Extent:
        """What an upkeep that begins now has in view; taken before it reads the first note."""
        vault = self.workspace.vault
        folder = Path(vault.place.root, vault.home.at(ENTRIES), f"{now:%Y/%m}")
        entries = sum(1 for _ in folder.glob(f"{now:%Y-%m-%d}*.md")) if folder.is_dir() else 0
        return Extent(now.date().isoformat(), entries)

    def record(self, extent: Extent) -> None:
        """Record an upkeep that has run; it runs once more if that cannot be written."""
        with suppress(AgentError):
            self.last.put(extent)


logger = logging.getLogger(__name__)


def learn_nothing() -> int:
    """Learn nothing; for an upkeep without it."""
    return 0


@dataclass(frozen=True, slots=True)
class Upkeeper:
    """Runs the upkeep of one vault's memory, and beside it the profile. `learn` writes down what the person prefers, in
    a commit of its own, at most once a day, and returns how many lines changed."""

    workspace: Workspace
    learn: Callable[[], int] = learn_nothing

    def plan(self) -> UpkeepPlan:
        """The upkeep that is needed now; writes nothing."""
        settings = self.workspace.settings
        return plan(self.workspace.vault, settings.memory, settings.vault.language, self.workspace.clock.now())

    def run(self) -> tuple[UpkeepPlan, Outcome]:
        """Do the upkeep that is needed now, in one commit, and record its time."""
        due = UpkeepDue(self.workspace)
        extent = due.extent(self.workspace.clock.now())
        upkeep = self.plan()
        outcome = run(self.workspace.vault, upkeep) if upkeep.requests else Outcome()
        due.record(extent)
        return upkeep, outcome

    def fill_profile(self) -> Proposed:
        """Write what the person has stated lately into their profile, in a commit of its own."""
        return fill_profile(self.workspace)

    def run_when_due(self) -> UpkeepPlan | None:
        """Run the upkeep if it is due; returns None if it is not due, or failed and has to wait."""
        if not UpkeepDue(self.workspace).is_due(self.workspace.clock.now()):
            return None
        try:
            upkeep, _ = self.run()
            self.learn()
            self.fill_profile()
            return upkeep
        except AgentError as error:
            logger.warning("the upkeep of memory has to wait: %s", error.message)
            return None
