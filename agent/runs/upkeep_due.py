"""When the upkeep of a vault's memory is due: at the first activity of a day, or when a day has many entries.

This machine alone remembers when its last upkeep was. The notes say what there is to do, so another machine's upkeep,
or one too many, does no harm.
"""

import json
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from agent.config import private
from agent.dataclass import dataclass
from agent.json_value import parse_json
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
    def last(self) -> Path:
        """The file that records the last upkeep on this machine."""
        return self.workspace.vault.private_folder / "upkeep.json"

    def is_due(self, now: datetime) -> bool:
        """True if the upkeep should run now; reads one small file and the names in one folder."""
        settings = self.workspace.settings.memory
        if not (settings.lifecycle or settings.long_term):
            return False
        last, here = self._done(), self.extent(now)
        return here.day != last.day or here.entries - last.entries >= settings.lifecycle_entries

    def extent(self, now: datetime) -> Extent:
        """What an upkeep that begins now has in view; taken before it reads the first note."""
        vault = self.workspace.vault
        folder = Path(vault.place.root, vault.home.at(ENTRIES), f"{now:%Y/%m}")
        entries = sum(1 for _ in folder.glob(f"{now:%Y-%m-%d}*.md")) if folder.is_dir() else 0
        return Extent(now.date().isoformat(), entries)

    def record(self, extent: Extent) -> None:
        """Record an upkeep that has run; it runs once more if that cannot be written."""
        with suppress(OSError):
            private.replace(self.last, json.dumps(asdict(extent)))

    def _done(self) -> Extent:
        try:
            said = parse_json(self.last.read_text("utf-8"))
            return Extent(str(said["day"]), int(said["entries"]))
        except (OSError, ValueError, KeyError, TypeError):
            return Extent()
