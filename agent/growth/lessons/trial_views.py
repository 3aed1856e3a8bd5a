"""All variants of a vault's skills with the counts of their trials, for a person and for JSON."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.errors import Unknown, UserError
from agent.growth.lessons.variant_candidates import Unfit, look_at_skills
from agent.growth.lessons.verdict import TrialCount, count_trial
from agent.runs.skill_set import SkillSet
from agent.skills.history.usage import load_uses
from agent.skills.variants.trial_shelf import TrialRecord, parse_variant, trial_records
from agent.skills.variants.variant import Variant
from agent.vault.folders import MUTATIONS
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class TrialView:
    """One variant with its counts; `is_here`: its trial was begun on this machine."""

    variant: Variant
    count: TrialCount
    is_here: bool


def load_trials(vault: Vault) -> tuple[TrialView, ...]:
    """The variants of all skills, the newest first."""
    parsed = (parse_variant(path, vault.read(path) or b"") for path in vault.note_paths(vault.home.at(MUTATIONS)))
    found = sorted((each for each in parsed if each is not None), key=_begun, reverse=True)
    here = {each.key for each in trial_records(vault).all()}
    counts = (count_trial(load_uses(vault, each.skill), each.number) for each in found)
    return tuple(
        TrialView(each, count, f"{each.skill}-{each.number}" in here) for each, count in zip(found, counts, strict=True)
    )


def find_open_trial(vault: Vault, name: str) -> TrialRecord:
    """The trial of a skill that goes on here; raises `UserError` if there is none."""
    found = next((each for each in trial_records(vault).all() if each.skill == name and each.is_open), None)
    if found is None:
        raise UserError(
            "no variant of {name} is on trial here", hint="vault-agent skills trials list shows all", name=name
        )
    return found


def find_trials(vault: Vault, name: str) -> tuple[TrialView, ...]:
    """The variants of a skill, or the one with this name (`plan-week-1`); raises `Unknown` if there is none."""
    found = [each for each in load_trials(vault) if name in {each.variant.skill, PurePosixPath(each.variant.path).stem}]
    if not found:
        raise Unknown("there is no variant {name}", hint="vault-agent skills trials list shows all", name=name)
    return tuple(found)


def reasons_not_to_try(skills: SkillSet) -> Iterator[Unfit]:
    """The learned skills that may not be tried now, each with the reason."""
    found = look_at_skills(skills, skills.workspace.settings.growth.mutations.pause_days)
    return (each for each in found if isinstance(each, Unfit) and each.why not in {"not_learned", "on_trial"})


def trial_document(view: TrialView) -> dict[str, object]:
    """A variant for JSON."""
    variant, count = view.variant, view.count
    return {
        "skill": variant.skill,
        "number": variant.number,
        "kind": variant.kind,
        "status": variant.status,
        "path": variant.path,
        "change": variant.change,
        "started": variant.started.isoformat() if variant.started else None,
        "ended": variant.ended.isoformat() if variant.ended else None,
        "why": variant.why or None,
        "original": {"uses": len(count.original), "successes": sum(count.original)},
        "variant": {"uses": len(count.variant), "successes": sum(count.variant)},
        "kept": {"uses": len(count.adopted), "successes": sum(count.adopted)},
        "here": view.is_here,
    }


def _begun(variant: Variant) -> tuple[float, str, int]:
    at = variant.started or datetime.fromtimestamp(0).astimezone()
    return at.timestamp(), variant.skill, variant.number
