"""`vault-agent skills trials`: shows the variants of skills that are tried, stops a trial, and looks for new ones."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from agent.errors import UserError
from agent.growth.lessons.trial_views import (
    TrialView,
    find_open_trial,
    find_trials,
    load_trials,
    reasons_not_to_try,
    trial_document,
)
from agent.growth.lessons.variant_candidates import LEAST_RATE, LEAST_USES, NotTried, Unfit
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import listed, tr
from agent.interfaces.cli.output import Output
from agent.lazy import later
from agent.runs.skill_lookup import find_skill, skills_on_demand
from agent.skills.variants.variant import TRIAL_USES, VariantStatus
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.app.experiments import propose_variants
    from agent.growth.lessons.variants import Variants
else:
    Variants = later("agent.growth.lessons.variants", "Variants")
    propose_variants = later("agent.app.experiments", "propose_variants")

_STATUS: Mapping[VariantStatus, str] = {
    "trial": "on trial",
    "kept": "kept, and watched",
    "settled": "kept",
    "discarded": "dropped",
    "inconclusive": "ended undecided",
    "stopped": "stopped",
    "rolled_back": "taken back",
}
_WHY: Mapping[NotTried, str] = {
    "not_learned": "you wrote it",
    "unreviewed": "you have not reviewed it: vault-agent skills review {name}",
    "on_trial": "a variant is on trial",
    "asked": "you are asked about a variant: vault-agent needs",
    "few_uses": "only {uses} uses that say something; {least} are needed",
    "low_rate": "it succeeded in {rate:.0%} of its last {uses} uses; {most:.0%} are needed",
    "pause": "something was tried lately (growth.mutations.pause_days)",
}


@click.group("trials", short_help="Variants of skills on trial: list, show, stop, propose.")
def trials() -> None:
    """Variants of skills that work well: every second use takes one, and after ten uses of each the better one is kept.

    Each variant is a note in skills/mutations/, with what changes, why, and what became of it.
    """


@trials.command("list")
@in_vault
def list_(output: Output, workspace: Workspace) -> None:
    """List all variants, and the skills that could be tried."""
    skills = skills_on_demand(workspace)
    found = load_trials(skills.workspace.vault)
    mutations = Variants(skills)
    ready = [each.skill.name for each in mutations.candidates()]
    unfit = list(reasons_not_to_try(skills)) if mutations.is_on else []
    document = {
        "on": mutations.is_on,
        "trials": [trial_document(each) for each in found],
        "ready": ready,
        "not_ready": [{"name": each.skill.name, "why": each.why} for each in unfit],
    }
    output.emit(document, lambda: "\n".join(_overview(found, ready, unfit, is_on=mutations.is_on)))


@trials.command()
@click.argument("name")
@in_vault
def show(output: Output, workspace: Workspace, name: str) -> None:
    """Show the variants of the skill NAME, or one of them, such as plan-week-1."""
    vault = workspace.vault
    found = find_trials(vault, name)
    notes = [(vault.read(each.variant.path) or b"").decode("utf-8", "replace") for each in found]
    documents = [{**trial_document(each), "body": each.variant.body} for each in found]
    blocks = ("\n".join([*_lines(each), "", note]) for each, note in zip(found, notes, strict=True))
    output.emit({"trials": documents}, lambda: "\n\n".join(blocks))


@trials.command()
@click.argument("name")
@in_vault
def stop(output: Output, workspace: Workspace, name: str) -> None:
    """Stop the trial of a variant of the skill NAME; the skill stays as it is."""
    skills = skills_on_demand(workspace)
    ended = Variants(skills).stop(find_open_trial(skills.workspace.vault, name))
    sentence = tr("{name}: variant {number} is not tried any more", name=name, number=ended.number)
    output.emit({"skill": name, "number": ended.number, "status": ended.status, "path": ended.path}, sentence)


@trials.command()
@click.argument("name", required=False)
@in_vault
def propose(output: Output, workspace: Workspace, name: str | None) -> None:
    """Ask the model for a variant of each skill that may be tried, or of the skill NAME; try it, or ask you about it.

    The daemon does this by itself after runs.
    """
    skills = skills_on_demand(workspace)
    mutations = Variants(skills)
    if not mutations.is_on:
        raise UserError(
            "no variants are tried: growth is off", hint="vault-agent config set growth.mutations.mode usual"
        )
    if name is not None:
        skill = find_skill(skills.library, name)
        unfit = next((each for each in reasons_not_to_try(skills) if each.skill.name == skill.name), None)
        if unfit is not None:
            raise UserError("{name} is not tried: {why}", name=name, why=_why(unfit))
    found = propose_variants(workspace, only=name or "")
    lines = [tr("look at it in {path}", path=path) for path in found]
    output.emit({"paths": list(found)}, "\n".join(lines) or tr("no variant is tried now"))


def _overview(found: tuple[TrialView, ...], ready: list[str], unfit: list[Unfit], *, is_on: bool) -> Iterator[str]:
    if not is_on:
        yield tr("no variants are tried: growth is off")
    if not found:
        yield tr("no variant was tried yet")
    for each in found:
        yield from _lines(each)
    if ready:
        yield tr("could be tried now: {names}", names=listed(ready))
    for left in unfit:
        yield tr("{name} is not tried: {why}", name=left.skill.name, why=_why(left))


def _lines(view: TrialView) -> Iterator[str]:
    variant, count = view.variant, view.count
    status = tr(_STATUS[variant.status])
    yield tr("{skill}, variant {number}: {status}", skill=variant.skill, number=variant.number, status=status)
    yield f"  {variant.change}"
    counts = {"good": sum(count.original), "uses": len(count.original)}
    counts |= {"better": sum(count.variant), "tried": len(count.variant), "most": TRIAL_USES}
    if variant.status == "trial" and not view.is_here:
        yield tr("  its trial goes on on another machine")
    yield tr(
        "  the skill succeeded in {good} of {uses} uses, the variant in {better} of {tried}; {most} of each decide",
        **counts,
    )
    if count.adopted:
        yield tr("  since it was kept in {good} of {uses}", good=sum(count.adopted), uses=len(count.adopted))
    if variant.why:
        yield f"  {variant.why}"
    yield f"  {variant.path}"


def _why(unfit: Unfit) -> str:
    return tr(
        _WHY[unfit.why],
        name=unfit.skill.name,
        uses=unfit.uses,
        rate=unfit.rate or 0.0,
        least=LEAST_USES,
        most=LEAST_RATE,
    )
