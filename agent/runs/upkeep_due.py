"""When the upkeep of a vault's memory is due: at the first activity of a day, or when a day has many entries.

This machine alone remembers when its last upkeep was. The notes say what there is to do, so another machine's upkeep,
or one too many, does no harm.
"""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.records.table import Table
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
