"""Begins the trial of a variant, or asks for the person's yes to it.

One commit: the variant's note, a row of the log, and a line in the note of the day. The record that makes the trial
valid on this machine is written first: without its note, it counts for nothing.
"""

from dataclasses import replace
from hashlib import sha256

from agent.asking.answers import propose
from agent.asking.proposal import Proposal, ProposalDraft, ProposedNote
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.growth.lessons.lesson_log import By, LessonEvent, LogRow, append_rows
from agent.growth.lessons.variant_answer import VariantProposal
from agent.growth.lessons.variant_candidates import SkillCandidate
from agent.memory import daily
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
from agent.vault.change import Append, Stamp, actor_of
from agent.vault.folders import LEARNED
from agent.workspace.workspace import Workspace

STAMP = Stamp(actor_of(growth_account("mutations")), tool="mutations")
SKILL, NUMBER, DIGEST = "skill", "number", "digest"
"""The facts of a proposal by which it is known again."""


@dataclass(frozen=True, slots=True)
class PlannedVariant:
    """A variant that may be tried: the skill, the proposal, and what it is by its text."""

    candidate: SkillCandidate
    proposal: VariantProposal
    kind: VariantKind


def begin_trial(workspace: Workspace, planned: PlannedVariant) -> str:
    """Put a variant on trial; returns the path of its note. Raises what a transaction raises, and then changes
    nothing."""
    vault = workspace.vault
    variant, note = _composed(workspace, planned)
    record = save_trial(vault, _record(workspace, variant, planned.candidate.data))
    try:
        with vault.transaction(f"skills(trial): {variant.skill}, variant {variant.number}", STAMP) as change:
            change.create(variant.path, note)
            history = vault.home.at(history_path(variant.skill))
            before = vault.read(history)
            if before is not None and (after := history_with_trials(before)) != before:
                change.edit(history, before, after)
            change.requests += [logged(workspace, variant, "trial"), day_line(workspace, "begun", variant)]
    except AgentError:
        trial_records(vault).drop(record.key)
        raise
    return variant.path


def ask_about(workspace: Workspace, planned: PlannedVariant) -> str:
    """Ask for the person's yes to the trial of a variant; returns the path of the note that asks. Raises what a
    transaction raises."""
    language, skill = workspace.settings.vault.language, planned.candidate.skill
    variant, note = _composed(workspace, planned)
    why = text(
        "variant.ask_why", language, skill=f"[[{skill.path.removesuffix('.md')}|{skill.name}]]", change=variant.change,
        reason=variant.reason, risk=variant.risk, uses=TRIAL_USES, gain=variant.plan.gain,
    )  # fmt: skip
    draft = ProposalDraft(
        "mutation",
        f"{skill.name} {variant.number}",
        text("variant.ask", language, skill=skill.name),
        why,
        (ProposedNote(variant.path, note.decode()),),
        (),
        tuple(f"[[{use.session.removesuffix('.md')}]]" for use in planned.candidate.uses[-5:]),
        {SKILL: skill.name, NUMBER: str(variant.number), DIGEST: variant.digest, "base": sha(planned.candidate.data)},
        STAMP.actor,
    )
    unwritten = replace(variant, path="")
    return propose(workspace.vault, draft, language, also=(logged(workspace, unwritten, "proposed"),)).path


def begin_approved(workspace: Workspace, proposal: Proposal) -> None:
    """Make the trial valid whose note the person's yes has written."""
    vault = workspace.vault
    path = next((note.path for note in proposal.notes), "")
    variant = parse_variant(path, vault.read(path) or b"") if path else None
    if (
        variant is None
        or variant.digest != proposal.facts.get(DIGEST)
        or trial_records(vault).get(f"{variant.skill}-{variant.number}")
    ):
        return
    record = _record(workspace, variant, vault.read(skill_path(workspace, variant.skill)) or b"")
    # with another base than the skill has, the next look stops the trial and says why
    save_trial(vault, replace(record, base=proposal.facts.get("base", "")))
    write_log(workspace, logged(workspace, variant, "trial", "person"), f"trial, {variant.skill}")


def logged(
    workspace: Workspace, variant: Variant, event: LessonEvent, by: By = "agent", why: str | None = None
) -> Append:
    """The request that adds a row about a variant to the log; without a note of its own it is about the skill."""
    target = variant.path or skill_path(workspace, variant.skill)
    said = variant.change if why is None else why
    row = LogRow(workspace.clock.now(), target.removesuffix(".md"), variant.skill, event, by, said)
    return append_rows(workspace.vault.home, [row], workspace.settings.vault.language)


def write_log(workspace: Workspace, row: Append, subject: str) -> None:
    """Write a row into the log, in a commit of its own."""
    with workspace.vault.transaction(f"skills(mutations): {subject}", STAMP, masked=True) as change:
        change.requests.append(row)


def day_line(workspace: Workspace, event: str, variant: Variant) -> Append:
    """The request that adds a line about a variant to the note of the day: more notice than that is not given."""
    language, now = workspace.settings.vault.language, workspace.clock.now()
    lines = [
        text("variant.day_where", language, link=variant.path.removesuffix(".md")),
        daily.inert(variant.why or variant.change),
    ]
    title = text(f"variant.day_{event}", language, skill=variant.skill, number=variant.number)
    return Append(
        workspace.vault.home.day_note(now.date()),
        daily.block(now, title, lines).encode(),
        daily.beginning(workspace.vault, now.date()),
        daily.section("upkeep", language).encode(),
    )


def skill_path(workspace: Workspace, skill: str) -> str:
    """The path of a learned skill's note."""
    return workspace.vault.home.at(f"{LEARNED}{skill}/{FILE}")


def sha(data: bytes) -> str:
    """The SHA-256 by which a record knows the bytes of a skill."""
    return sha256(data).hexdigest()


def _composed(workspace: Workspace, planned: PlannedVariant) -> tuple[Variant, bytes]:
    """The variant with its plan, its number (none that a note or a record has) and its path, and its note."""
    vault, settings, said = workspace.vault, workspace.settings.growth.mutations, planned.proposal
    skill, number = planned.candidate.skill, 1
    taken = {record.number for record in trial_records(vault).all() if record.skill == skill.name}
    while number in taken or vault.read(vault.home.at(variant_path(skill.name, number))) is not None:
        number += 1
    variant = Variant(
        skill.name,
        number,
        planned.kind,
        said.body,
        TrialPlan(settings.min_improvement, settings.tolerance),
        said.change,
        said.reason,
        said.risk,
        said.verification,
        started=workspace.clock.now(),
        path=vault.home.at(variant_path(skill.name, number)),
    )
    history = vault.home.at(history_path(skill.name))
    return variant, compose_variant(variant, skill.body, skill.path, history, workspace.settings.vault.language)


def _record(workspace: Workspace, variant: Variant, data: bytes) -> TrialRecord:
    blob = workspace.vault.content_id(data)
    return TrialRecord(variant.skill, variant.number, variant.path, variant.digest, sha(data), blob)
