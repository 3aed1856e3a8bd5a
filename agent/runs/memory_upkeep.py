"""The upkeep of a vault's memory: run at the first activity of a day, or when a day has many entries.

This machine alone remembers when its last upkeep was. The notes say what there is to do, so another machine's upkeep,
or one too many, does no harm.
"""

import json
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from agent.config import private
from agent.errors import AgentError
from agent.memory.understanding.rules import RULES
from agent.memory.understanding.seam import Understanding
from agent.memory.upkeep.lifecycle import UpkeepPlan, plan, run
from agent.vault.change import Outcome
from agent.vault.folders import ENTRIES
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Upkeeper:
    """Runs the upkeep of memory when it is due: at the first activity of a day, or after many entries in a day."""

    workspace: Workspace
    understanding: Understanding = RULES

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

    def plan(self) -> UpkeepPlan:
        """The upkeep that is needed now; writes nothing."""
        settings = self.workspace.settings
        return plan(
            self.workspace.vault,
            settings.memory,
            settings.vault.language,
            self.workspace.clock.now(),
            self.understanding,
        )

    def run(self) -> tuple[UpkeepPlan, Outcome]:
        """Do the upkeep that is needed now, in one commit, and record its time."""
        upkeep = self.plan()
        outcome = run(self.workspace.vault, upkeep) if upkeep.requests else Outcome()
        today = self.workspace.clock.now().date()
        with suppress(OSError):
            private.replace(self.last, json.dumps({"day": today.isoformat(), "entries": self._today(today)}))
        return upkeep, outcome

    def run_when_due(self) -> UpkeepPlan | None:
        """Run the upkeep if it is due; returns None if it is not due, or failed and has to wait."""
        if not self.is_due(self.workspace.clock.now()):
            return None
        try:
            return self.run()[0]
        except AgentError as error:
            logger.warning("the upkeep of memory has to wait: %s", error.message)
            return None

    def _done(self) -> tuple[str, int]:
        try:
            said = json.loads(self.last.read_text("utf-8"))
            return str(said["day"]), int(said["entries"])
        except (OSError, ValueError, KeyError, TypeError):
            return "", 0

    def _today(self, day: date) -> int:
        folder = Path(self.workspace.vault.place.root, ENTRIES, f"{day:%Y/%m}")
        return sum(1 for _ in folder.glob(f"{day:%Y-%m-%d}*.md")) if folder.is_dir() else 0
