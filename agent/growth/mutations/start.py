"""Begins the trial of a variant, or asks for the person's yes to it.

One commit: the variant's note, a row of the log, and a line in the note of the day. The record that makes the trial
valid on this machine is written first: without its note, it counts for nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from agent.asking.answers import propose
from agent.asking.proposal import Proposal, ProposalDraft, ProposedNote
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.growth.mutations.answer import MutationProposal
from agent.growth.mutations.candidates import SkillCandidate
from agent.growth.mutations.day_line import day_line
from agent.growth.mutations.mutation_log import ByWhom, MutationEvent, MutationRow, append_log
from agent.runs.status import growth_account
from agent.skills.history.usage import history_path, history_with_trials
from agent.skills.reading.skill import FILE
from agent.skills.variants.trial_shelf import (
    TrialRecord,
    compose_variant,
    parse_variant,
    save_trial,
    trial_records,
    variant_path,
)
from agent.skills.variants.variant import TRIAL_USES, TrialPlan, Variant, VariantKind
from agent.texts import text
from agent.vault.change import Stamp, actor_of
from agent.vault.folders import LEARNED
from agent.workspace.workspace import Workspace

STAMP = Stamp(actor_of(growth_account("mutations")), tool="mutations")
SKILL, NUMBER, DIGEST = "skill", "number", "digest"
"""The facts of a proposal by which it is known again."""


@dataclass(frozen=True, slots=True)
class PlannedVariant:
    """A variant that may be tried: the skill, the proposal, and what it is by its text."""

    candidate: SkillCandidate
    proposal: MutationProposal
    kind: VariantKind


def variant_of(workspace: Workspace, planned: PlannedVariant) -> Variant:
    """The variant with its plan and number, as its note will have it."""
    settings, candidate, said = workspace.settings.growth.mutations, planned.candidate, planned.proposal
    plan = TrialPlan(settings.min_improvement, settings.tolerance)
    return Variant(
        candidate.skill.name,
        free_number(workspace, candidate.skill.name),
        planned.kind,
        said.body,
        plan,
        said.change,
        said.reason,
        said.risk,
        said.verification,
        started=workspace.clock.now(),
    )


def begin_trial(workspace: Workspace, planned: PlannedVariant) -> Variant:
    """Put a variant on trial; raises what a transaction raises, and then changes nothing."""
    vault, language = workspace.vault, workspace.settings.vault.language
    variant, skill = variant_of(workspace, planned), planned.candidate.skill
    path = vault.home.at(variant_path(skill.name, variant.number))
    note = compose_variant(variant, skill.body, skill.path, vault.home.at(history_path(skill.name)), language)
    record = save_trial(vault, _record(workspace, replace(variant, path=path), planned.candidate.data))
    try:
        with vault.transaction(f"skills(trial): {skill.name}, variant {variant.number}", STAMP) as change:
            change.create(path, note)
            history = vault.home.at(history_path(skill.name))
            before = vault.read(history)
            if before is not None and (after := history_with_trials(before)) != before:
                change.edit(history, before, after)
            change.requests += [
                append_log(vault.home, [log_row(workspace, variant, path, "trial", "agent", variant.change)], language),
                day_line(workspace, "begun", variant, path),
            ]
    except AgentError:
        trial_records(vault).drop(record.key)
        raise
    return replace(variant, path=path)


def ask_about(workspace: Workspace, planned: PlannedVariant) -> Proposal:
    """Ask for the person's yes to the trial of a variant, in a note; raises what a transaction raises."""
    vault, language = workspace.vault, workspace.settings.vault.language
    variant, skill = variant_of(workspace, planned), planned.candidate.skill
    path = vault.home.at(variant_path(skill.name, variant.number))
    note = compose_variant(variant, skill.body, skill.path, vault.home.at(history_path(skill.name)), language)
    why = text(
        "variant.ask_why", language, skill=f"[[{skill.path.removesuffix('.md')}|{skill.name}]]", change=variant.change,
        reason=variant.reason, risk=variant.risk, uses=TRIAL_USES, gain=variant.plan.gain,
    )  # fmt: skip
    draft = ProposalDraft(
        "mutation",
        f"{skill.name} {variant.number}",
        text("variant.ask", language, skill=skill.name),
        why,
        (ProposedNote(path, note.decode()),),
        (),
        tuple(f"[[{use.session.removesuffix('.md')}]]" for use in planned.candidate.uses[-5:]),
        {SKILL: skill.name, NUMBER: str(variant.number), DIGEST: variant.digest, "base": _sha(planned.candidate.data)},
        STAMP.actor,
    )
    asked = propose(vault, draft, language)
    log(workspace, [log_row(workspace, variant, "", "proposed", "agent", variant.change)])
    return asked


def begin_approved(workspace: Workspace, proposal: Proposal) -> bool:
    """Make the trial valid whose note the person's yes has written; False if its skill has changed since."""
    vault = workspace.vault
    path = next((note.path for note in proposal.notes), "")
    variant = parse_variant(path, vault.read(path) or b"") if path else None
    if (
        variant is None
        or variant.digest != proposal.facts.get(DIGEST)
        or trial_records(vault).get(f"{variant.skill}-{variant.number}")
    ):
        return False
    data = vault.read(skill_path(workspace, variant.skill)) or b""
    record = _record(workspace, variant, data)
    is_same = _sha(data) == proposal.facts.get("base")
    # with another base than the skill has, the next look stops the trial and says why
    save_trial(vault, record if is_same else replace(record, base=proposal.facts.get("base", "")))
    log(workspace, [log_row(workspace, variant, path, "trial", "person", variant.change)])
    return is_same


def free_number(workspace: Workspace, skill: str) -> int:
    """The number of the next variant of a skill: none that a note or a record has."""
    vault = workspace.vault
    taken = {record.number for record in trial_records(vault).all() if record.skill == skill}
    number = 1
    while number in taken or vault.read(vault.home.at(variant_path(skill, number))) is not None:
        number += 1
    return number


def log_row(
    workspace: Workspace, variant: Variant, path: str, event: MutationEvent, by: ByWhom, why: str
) -> MutationRow:
    """The row of the log about a variant, now."""
    return MutationRow(workspace.clock.now(), variant.skill, path, event, by, why)


def log(workspace: Workspace, rows: Sequence[MutationRow]) -> None:
    """Write rows into the log, in a commit of their own."""
    vault = workspace.vault
    with vault.transaction(f"skills(mutations): {rows[0].event}, {rows[0].skill}", STAMP, masked=True) as change:
        change.requests.append(append_log(vault.home, rows, workspace.settings.vault.language))


def skill_path(workspace: Workspace, skill: str) -> str:
    """The path of a learned skill's note."""
    return workspace.vault.home.at(f"{LEARNED}{skill}/{FILE}")


def _record(workspace: Workspace, variant: Variant, data: bytes) -> TrialRecord:
    blob = workspace.vault.content_id(data)
    return TrialRecord(variant.skill, variant.number, variant.path, variant.digest, _sha(data), blob)


def _sha(data: bytes) -> str:
    return sha256(data).hexdigest()
