"""Skills: what there is and how each did, what a run would be given for a task, and the way back to an earlier text."""

from collections.abc import Mapping

from agent.deeds.restoring import earlier_text, roll_back_skill
from agent.deeds.skills import distrust_skill
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.runs.skill_lookup import find_skill, skills_on_demand
from agent.runs.skill_preview import SkillPreview, preview_skills
from agent.skills.matching.matcher import MatchTask
from agent.skills.reading.skill import SkillSource


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
        "before": earlier_text(request.workspace.vault, skill),
    }


def roll_back(request: PageRequest) -> Done:
    """Write a skill's text as it was before its last change. As any other change it has to be looked at again."""
    workspace = request.workspace
    skill = find_skill(skills_on_demand(workspace).library, request.needed("name"))
    done = roll_back_skill(workspace.vault, skill, request.needed("before"))
    return Done(request.text("undo_waits" if done.queued else "rolled_back", name=skill.name))


def distrust(request: PageRequest) -> Done:
    """Trust a skill no more on this machine."""
    done = distrust_skill(request.workspace, request.needed("name"))
    return Done(request.text("distrusted", name=done.name))


PAGE = Page("skills", "/skills", show, "l", under="memory")
SKILL = Page("skill", "/skills/{name}", show_skill, under="skills")
DEEDS = (Deed("/skills/roll-back", roll_back), Deed("/skills/distrust", distrust))
