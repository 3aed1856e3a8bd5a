"""When the upkeep of a vault's memory is due: at the first activity of a day, or when a day has many entries.

This machine alone remembers when its last upkeep was. The notes say what there is to do, so another machine's upkeep,
or one too many, does no harm.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from agent.config import private
from agent.vault.folders import ENTRIES
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class UpkeepDue:
    """The time of the last upkeep of one vault on this machine."""

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
        day, entries = self._done()
        if day != now.date().isoformat():
            return True
        return self._today(now.date()) - entries >= settings.lifecycle_entries

    def record(self, now: datetime) -> None:
        """Record that the upkeep has run now; it runs once more if that cannot be written."""
        day = now.date()
        with suppress(OSError):
            private.replace(self.last, json.dumps({"day": day.isoformat(), "entries": self._today(day)}))

    def _done(self) -> tuple[str, int]:
        try:
            said = json.loads(self.last.read_text("utf-8"))
            return str(said["day"]), int(said["entries"])
        except (OSError, ValueError, KeyError, TypeError):
            return "", 0

    def _today(self, day: date) -> int:
        folder = Path(self.workspace.vault.place.root, ENTRIES, f"{day:%Y/%m}")
        return sum(1 for _ in folder.glob(f"{day:%Y-%m-%d}*.md")) if folder.is_dir() else 0
