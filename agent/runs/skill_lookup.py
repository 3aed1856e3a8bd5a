"""A vault's skills, loaded for one request, and the lookup of a skill by its name."""

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from agent.context.budget import counter, estimate
from agent.errors import Unknown, UserError
from agent.events.bus import ignore_event
from agent.lazy import later
from agent.runs.skill_set import SkillSet, skill_set
from agent.skills.loading.library import SkillLibrary
from agent.skills.reading.skill import FILE, Skill, SkillSource
from agent.skills.reading.skill_file import name_problem
from agent.vault.folders import DEPRECATED
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.index.embedder import Embedder
    from agent.workspace.search_index import open_index
else:
    open_index = later("agent.workspace.search_index", "open_index")


def find_skill(found: SkillLibrary, name: str) -> Skill:
    """The skill with this name; raises `UserError` with the reason why it cannot be used, or with similar names."""
    shelf = found.snapshot()
    skill = shelf.get(name)
    if skill is not None:
        return skill
    aside = found.home.at(f"{DEPRECATED}{name}")
    learned = next(place for place in found.locations if place.source is SkillSource.LEARNED)
    if not name_problem(name) and (learned.root / aside / FILE).is_file():
        raise UserError(
            "the skill {name} was put aside", hint="vault-agent log {aside} says when and why", name=name, aside=aside
        )
    broken = next((each for each in shelf.problems if f"/{name}/" in each.path), None)
    if broken is not None:
        raise UserError(
            "the skill {name} cannot be used: {reason}",
            hint="{path}, line {line}",
            name=name,
            reason=broken.reason,
            path=broken.path,
            line=broken.line,
        )
    near = ", ".join(get_close_matches(name, shelf.named, cutoff=0.5) or [each for each in shelf.named if name in each])
    raise Unknown(
        "there is no skill {name}",
        hint="vault-agent skills list; near it: {near}" if near else "vault-agent skills list",
        name=name,
        near=near,
    )


def skills_on_demand(workspace: Workspace, publish: Callable[[object], object] = ignore_event) -> SkillSet:
    """The vault's skills; the embedding model is loaded only if a skill needs it. `publish` as in `skill_set`."""

    @cache
    def embedder() -> "Embedder | None":
        return open_index(workspace).chosen.embedder

    @cache
    def count() -> Callable[[str], int]:
        found = embedder()
        return counter(found) if found is not None else estimate

    return skill_set(workspace, embedder, lambda text: count()(text), publish)
