"""Skills: what there is and how each did, what a run would be given for a task, and the way back to an earlier text."""

from collections.abc import Mapping

from agent.errors import UserError
from agent.interfaces.http.api import skills as operations
from agent.interfaces.http.operation import Call
from agent.interfaces.http.pages.notes import versions_of
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.runs.skill_lookup import find_skill, skills_on_demand
from agent.runs.skill_preview import SkillPreview, preview_skills
from agent.skills.matching.matcher import MatchTask
from agent.skills.reading.skill import Skill, SkillSource
from agent.vault.change import Stamp
from agent.vault.store import Vault

_BACK = "skills"
"""The tool that the trailers of such a commit name."""


def show(request: PageRequest) -> Mapping[str, object]:
    """All skills with their counts; with a task (`task`) those that a run would be given for it."""
    found, task = skills_on_demand(request.workspace), request.field("task")
    shelf = found.library.snapshot()
    return {
        "task": task,
        "preview": _preview(request, task) if task else None,
        "skills": [(each, found.history.stats(each.name)) for each in shelf.candidates],
        "problems": (*shelf.errors, *shelf.warnings),
        "broken": len(shelf.errors),
    }


def _preview(request: PageRequest, task: str) -> SkillPreview:
    return preview_skills(skills_on_demand(request.workspace), MatchTask(task, (), {"channel": "http"}))


def show_skill(request: PageRequest) -> Mapping[str, object]:
    """One skill in full."""
    found = skills_on_demand(request.workspace)
    skill = find_skill(found.library, request.named["name"])
    is_own = skill.source is not SkillSource.PACKAGE
    return {
        "skill": skill,
        "stats": found.history.stats(skill.name),
        "is_own": is_own,
        "before": _before(request.workspace.vault, skill) if is_own else "",
    }


def _before(vault: Vault, skill: Skill) -> str:
    """The commit with the text before the present one; empty if there is none."""
    now = vault.read(skill.path)
    for each in versions_of(vault, skill.path):
        if each.path == skill.path and vault.read_at(each.commit.id, skill.path) != now:
            return each.commit.id
    return ""


def roll_back(request: PageRequest) -> Done:
    """Write a skill's text as it was before its last change. As any other change it has to be looked at again."""
    workspace = request.workspace
    vault = workspace.vault
    skill = find_skill(skills_on_demand(workspace).library, request.needed("name"))
    commit = _before(vault, skill) if skill.source is not SkillSource.PACKAGE else ""
    if not commit:
        raise UserError("{name} has no earlier text", hint="vault-agent skills list", name=skill.name)
    if commit != request.needed("before"):
        raise UserError("{path} has changed since you looked", hint="look at it again", path=skill.path)
    data, now = vault.read_at(commit, skill.path), vault.read(skill.path)
    assert data is not None and now is not None
    body = f"As in {commit[:10]}."
    with vault.transaction(f"skill({skill.name}): roll back", Stamp("human", tool=_BACK), body=body) as change:
        change.edit(skill.path, now, data)
    return Done(request.text("undo_waits" if change.outcome.queued else "rolled_back", name=skill.name))


def distrust(request: PageRequest) -> Done:
    """Trust a skill no more on this machine."""
    done = operations.distrust_skill(Call(request.service, operations.BySkill(request.needed("name")), None))
    return Done(request.text("distrusted", name=done.name))


PAGE = Page("skills", "/skills", show, "l")
SKILL = Page("skill", "/skills/{name}", show_skill)
DEEDS = (Deed("/skills/roll-back", roll_back), Deed("/skills/distrust", distrust))
