"""The records of trials on this machine, outside the vault: a note alone puts no variant on trial.

So a note that a pull brought, or that somebody has changed, is never followed. A trial belongs to the machine that
began it; on another one the skill stays as it is.
"""

from collections.abc import Iterator

from agent.dataclass import dataclass
from agent.records.table import Table
from agent.skills.variants.variant import OPEN, VariantStatus
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One trial: the `number`th of the skill named `skill`, whose note is at `path`.

    `body` is the mark of the variant's instructions. `base` is the SHA-256 of the skill's `SKILL.md` when it began, and
    `base_blob` the id of its content in git; `kept` is the SHA-256 of the one that was written when it was kept.
    `planned` is that of one which is about to be written, and `planned_status` the status of the trial then.
    """

    skill: str
    number: int
    path: str
    body: str
    base: str
    base_blob: str
    status: VariantStatus = "trial"
    kept: str = ""
    planned: str = ""
    planned_status: VariantStatus = "trial"

    @property
    def key(self) -> str:
        """The name of its record."""
        return f"{self.skill}-{self.number}"

    @property
    def is_open(self) -> bool:
        """True while uses of the skill are counted for it."""
        return self.status in OPEN


def trial_records(vault: Vault) -> Table[TrialRecord]:
    """The records of the trials that were begun on this machine."""
    return Table(vault.records, "skill-trials", TrialRecord)


def open_trials(vault: Vault) -> Iterator[TrialRecord]:
    """The trials that go on, and the kept variants that are watched."""
    return (record for record in trial_records(vault).all() if record.is_open)


def save_trial(vault: Vault, record: TrialRecord) -> TrialRecord:
    """Write a record and return it; durable when this returns."""
    trial_records(vault).put(record, record.key)
    return record
