"""The trials that go on now, each with both versions of its skill; read again when a record or a note changes."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import get_args

from agent.dataclass import dataclass
from agent.markdown.blocks import format_fenced
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.records.table import Table
from agent.skills.loading.library import SkillLibrary, SkillSnapshot
from agent.skills.reading.skill import Skill, SkillSource
from agent.skills.variants.variant import EARLY_USES, OPEN, TRIAL_USES, TrialPlan, Variant, VariantKind, VariantStatus
from agent.texts import Language, text
from agent.vault.folders import MUTATIONS
from agent.vault.history.line_diff import line_diff
from agent.vault.store import Vault

TYPE = "skill_variant"
_BODY = re.compile(r"^(`{3,})markdown\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def variant_path(skill: str, number: int) -> str:
    """The path of a variant's note, in the agent's folder."""
    return f"{MUTATIONS}{skill}-{number}.md"


def compose_variant(variant: Variant, before: str, skill_path: str, history: str, language: Language) -> bytes:
    """The note of a variant on trial; `before` are the skill's own instructions, `skill_path` is that of its note and
    `history` that of its uses."""
    header: dict[str, Value] = {
        "type": TYPE,
        "skill": variant.skill,
        "skill_note": f"[[{skill_path.removesuffix('.md')}]]",
        "number": variant.number,
        "kind": variant.kind,
        **({"experimental": True} if variant.is_experimental else {}),
        "status": variant.status,
        "started": variant.started.replace(microsecond=0) if variant.started else None,
        "gain": variant.plan.gain,
        "tolerance": variant.plan.tolerance,
    }
    diff = line_diff(before.strip().encode(), variant.body.strip().encode(), context=1)[2:]
    parts = [
        f"# {text('variant.title', language, skill=variant.skill, number=variant.number)}",
        variant.change,
        format_fenced("\n".join(diff), "diff"),
        *_sections(variant, history, language),
        f"## {text('variant.body', language)}",
        format_fenced(variant.body.strip(), "markdown"),
    ]
    present = {key: value for key, value in header.items() if value is not None}
    return Note.compose(present, "\n\n".join(parts) + "\n").data


def _sections(variant: Variant, history: str, language: Language) -> Iterator[str]:
    plan, place = variant.plan, history.removesuffix(".md")
    judged = text(
        "variant.judged", language, uses=TRIAL_USES, early=EARLY_USES, gain=plan.gain, tolerance=plan.tolerance,
        history=place,
    )  # fmt: skip
    for key, words in (
        ("reason", variant.reason),
        ("risk", variant.risk),
        ("verification", "\n\n".join(filter(None, (variant.verification, judged)))),
    ):
        if words:
            yield f"## {text(f'variant.{key}', language)}\n\n{words}"


def parse_variant(path: str, data: bytes) -> Variant | None:
    """The variant in a note; None if it is none, or a part of it is missing or cannot be."""
    note = Note.parse(data)
    body = note.body.replace("\r\n", "\n")
    found = list(_BODY.finditer(body))
    header = note.header
    number, skill, kind = header.get("number"), note.string("skill"), note.string("kind")
    status = note.string("status")
    plan = _plan(header)
    if note.type != TYPE or not found or plan is None or skill is None or not isinstance(number, int):
        return None
    if kind not in get_args(VariantKind) or status not in get_args(VariantStatus):
        return None
    last = found[-1]
    line = note.body_line + body.count("\n", 0, last.start(2))
    words = _words(body)
    return Variant(
        skill,
        number,
        next(each for each in get_args(VariantKind) if each == kind),
        last[2].strip("\n"),
        plan,
        words,
        "",
        "",
        "",
        next(each for each in get_args(VariantStatus) if each == status),
        _time(header.get("started")),
        _time(header.get("ended")),
        note.string("why") or "",
        path=path,
        body_line=line,
    )


def with_end(data: bytes, status: VariantStatus, when: datetime, why: str, language: Language) -> bytes:
    """The note of a variant with its status since then, and why; raises `BadNote`."""
    note = Note.parse(data).with_key("status", status).with_key("ended", when.replace(microsecond=0))
    note = note.with_key("why", why) if why else note
    heading = f"## {text('variant.became', language)}"
    head, _, _ = note.body.partition(f"\n{heading}\n")
    return note.with_body(f"{head.rstrip()}\n\n{heading}\n\n{why}\n").data


def _words(body: str) -> str:
    """The paragraph below the title: what changes."""
    return next((part.strip() for part in body.split("\n\n") if part.strip() and not part.lstrip().startswith("#")), "")


def _plan(header: Mapping[str, Value]) -> TrialPlan | None:
    found = [header.get(key) for key in ("gain", "tolerance")]
    gain, tolerance = (float(each) if isinstance(each, int | float) and math.isfinite(each) else 0.0 for each in found)
    return TrialPlan(gain, tolerance) if 0 < gain < 1 and 0 < tolerance < 1 else None


def _time(value: Value) -> datetime | None:
    return value if isinstance(value, datetime) and value.tzinfo is not None else None


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
