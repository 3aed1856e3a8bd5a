"""The trials that go on now, each with both versions of its skill; read again when a record or a note changes."""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from hashlib import sha256
from pathlib import Path

from agent.dataclass import dataclass
from agent.records.table import Table
from agent.skills.loading.library import SkillLibrary, SkillSnapshot
from agent.skills.reading.skill import Skill, SkillSource
from agent.skills.variants.variant import OPEN, VariantStatus
from agent.skills.variants.variant_note import parse_variant
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


@dataclass(frozen=True, slots=True)
class RunningTrial:
    """A trial whose variant may be given to runs; `variant` is the skill with the variant's instructions. None: the
    variant was kept, is the skill itself, and is watched."""

    record: TrialRecord
    skill: Skill
    variant: Skill | None


@dataclass(slots=True)
class TrialShelf:
    """The trials of one vault."""

    vault: Vault
    library: SkillLibrary
    _stamp: object = None
    _shelf: SkillSnapshot | None = None
    _trials: Mapping[str, RunningTrial] = field(default_factory=dict)

    def trials(self) -> Mapping[str, RunningTrial]:
        """The trials that count, by the name of their skill: those whose skill and variant are as they were when the
        trial began, and reviewed on this machine."""
        stamp = self._now()
        if stamp is None:
            return {}
        shelf = self.library.snapshot()
        if stamp != self._stamp or shelf is not self._shelf:
            self._trials = self._load(shelf)
            self._stamp, self._shelf = stamp, shelf
        return self._trials

    def _now(self) -> object:
        """A value that changes with the records and the notes of their variants; None without records."""
        records = tuple(trial_records(self.vault).all())
        notes = (Path(self.vault.place.root, each.path) for each in records if each.is_open)
        return (records, *map(_stamp_of, notes)) if records else None

    def _load(self, shelf: SkillSnapshot) -> dict[str, RunningTrial]:
        found: dict[str, RunningTrial] = {}
        for record in open_trials(self.vault):
            skill = shelf.get(record.skill)
            if skill is None or not skill.reviewed or skill.source is not SkillSource.LEARNED:
                continue
            trial = self._running(record, skill)
            if trial is not None:
                found[record.skill] = trial
        return found

    def _running(self, record: TrialRecord, skill: Skill) -> RunningTrial | None:
        now = sha256(self.vault.read(skill.path) or b"").hexdigest()
        if record.status == "kept":
            return RunningTrial(record, skill, None) if now == record.kept else None
        variant = parse_variant(record.path, self.vault.read(record.path) or b"")
        if now != record.base or variant is None or variant.status != "trial" or variant.digest != record.body:
            return None
        return RunningTrial(
            record, skill, replace(skill, body=variant.body, path=record.path, body_line=variant.body_line)
        )


def _stamp_of(path: Path) -> tuple[str, int, int, int]:
    try:
        status = path.stat()
    except OSError:
        return str(path), 0, 0, 0
    return str(path), status.st_mtime_ns, status.st_size, status.st_ino
