"""The upkeep of a vault's memory, run by a person, by the daemon's maintenance, or after a run if no daemon does it."""

import logging
from collections.abc import Callable

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.memory.profile.changes import Proposed
from agent.memory.upkeep.lifecycle import UpkeepPlan, plan, run
from agent.runs.profile_upkeep import fill_profile
from agent.runs.upkeep_due import UpkeepDue
from agent.vault.change import Outcome
from agent.workspace.workspace import Workspace

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
