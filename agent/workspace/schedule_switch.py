"""The switch of one vault's schedule on this machine: if its jobs and tasks begin by themselves, and on which days.

It is a setting of the vault on this machine (`OF_VAULT_HERE`). Switching is left to `runs/wake_times.py`.
"""

from agent.config.load import Loaded, load_vault_settings
from agent.dataclass import dataclass
from agent.texts import Sentence
from agent.workspace.workspace import Workspace

_ENABLED = "schedule.enabled"


@dataclass(frozen=True, slots=True)
class ScheduleSwitch:
    """The switch as it is now; `days` has 0 for Monday. `variable` is the one of the environment that decides, empty
    for none."""

    enabled: bool
    days: tuple[int, ...]
    variable: str = ""

    @property
    def problem(self) -> Sentence | None:
        """What a person has to know of a schedule that is stopped; None for one that runs."""
        return None if self.enabled else Sentence("the schedule of this vault is stopped: no job and no task begins")

    @property
    def hint(self) -> Sentence:
        """What starts it."""
        if self.variable:
            return Sentence("change or unset the variable {variable}", variable=self.variable)
        return Sentence("vault-agent jobs start starts it")

    @property
    def line(self) -> Sentence | None:
        """The problem and what helps in one line; None for a schedule that runs."""
        if self.problem is None:
            return None
        return Sentence("{problem}; {fix}", problem=self.problem, fix=self.hint)


def schedule_switch(workspace: Workspace) -> ScheduleSwitch:
    """The switch as the files and variables say it now; raises `ConfigError`."""
    loaded = _load(workspace)
    schedule, origin = loaded.settings.schedule, loaded.origin(_ENABLED)
    return ScheduleSwitch(schedule.enabled, schedule.days, origin.place if origin.layer == "environment" else "")


def _load(workspace: Workspace) -> Loaded:
    return load_vault_settings(workspace.vault.place.root, vault_id=workspace.vault.id)
