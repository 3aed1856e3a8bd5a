"""Skills: what there is, what would be used for a task, how they did, and trust taken back."""

from collections.abc import Iterable
from typing import Any

from agent.asking.proposal import Proposal
from agent.context.budget import estimate
from agent.deeds.result import ResultValue, ShortName, TaskText
from agent.errors import UserError
from agent.runs.skill_lookup import find_skill, skills_on_demand
from agent.runs.skill_preview import SkillPreview, preview_skills
from agent.runs.skill_set import skill_library, skill_set
from agent.skills.history.stats import Stats
from agent.skills.learning.suggestion import tools_of
from agent.skills.matching.matcher import MatchTask
from agent.skills.reading.skill import Skill, SkillProblem, SkillSource
from agent.skills.trust.reviews import revoke
from agent.vault.folders import SKILLS
from agent.workspace.workspace import Workspace


class SkillView(ResultValue, frozen=True):
    """A skill; one that was not `reviewed` is not used. `triggers`: it says itself for what it is wanted."""

    name: str
    description: str
    source: str
    path: str
    reviewed: bool
    triggers: bool


class SkillProblemView(ResultValue, frozen=True):
    """What is wrong in a skill's file."""

    path: str
    line: int
    reason: str


class ListedSkills(ResultValue, frozen=True):
    """All skills, why some cannot be used, and warnings about others."""

    skills: list[SkillView]
    problems: list[SkillProblemView]
    warnings: list[SkillProblemView]


class WholeSkill(SkillView, frozen=True, kw_only=True):
    """A skill with its text, its files, and how it did."""

    body: str
    files: list[str]
    stats: dict[str, Any]


class SkillSignal(ResultValue, frozen=True):
    """One thing that speaks for a skill."""

    type: str
    detail: str
    weight: float


class MatchView(ResultValue, frozen=True):
    """A skill with a signal; `fate` is whether and how it would be used, `why` the reason."""

    name: str
    score: float
    signals: list[SkillSignal]
    base: float
    factor: float
    threshold: float
    fate: str
    why: str
    tokens: int
    slots: dict[str, str]
    on_request: list[str]
    path: str


class Matches(ResultValue, frozen=True):
    """The skills that a run would be given for a task, and the others that something speaks for."""

    matches: list[MatchView]
    index: list[str]
    room: int
    auto: bool


class OfferView(ResultValue, frozen=True):
    """A workflow that the person was asked about, as a skill that could be learned."""

    name: str
    tools: list[str]
    support: int
    path: str
    skill: str
    status: str
    reason: str | None


class SuggestionView(ResultValue, frozen=True):
    """A workflow that could be learned, with some of its tasks; `changes` names the skill that it would extend."""

    tools: list[str]
    tasks: list[str]
    support: int
    success_rate: float
    changes: str | None
    evidence: list[str]


class UseView(ResultValue, frozen=True):
    """One use of a skill."""

    run: str
    time: str
    activated: str
    score: float
    outcome: str | None
    feedback: str | None
    session: str | None


class Trust(ResultValue, frozen=True):
    """Whether a skill is trusted on this machine."""

    name: str
    reviewed: bool


def offer_view(offer: Proposal) -> OfferView:
    """An offer of a learned skill."""
    status = "accepted" if offer.status == "approved" else offer.status
    tools, support = list(tools_of(offer)), int(offer.facts["support"])
    return OfferView.of(offer, tools=tools, support=support, skill=offer.notes[0].path, status=status)


def list_skills(workspace: Workspace) -> ListedSkills:
    """All skills."""
    shelf = skill_library(workspace).snapshot()
    return ListedSkills(skill_views(shelf.candidates), skill_problems(shelf.errors), skill_problems(shelf.warnings))


def skill_views(skills: Iterable[Skill]) -> list[SkillView]:
    """Skills in short."""
    return [SkillView.of(each, triggers=each.has_triggers) for each in skills]


def skill_problems(problems: Iterable[SkillProblem]) -> list[SkillProblemView]:
    """What is wrong in the files of skills."""
    return [SkillProblemView.of(each) for each in problems]


def show_skill(workspace: Workspace, name: ShortName) -> WholeSkill:
    """One skill in full."""
    found = skills_on_demand(workspace)
    skill = find_skill(found.library, name)
    stats = skill_stats(found.history.stats(skill.name))
    return WholeSkill.of(skill, triggers=skill.has_triggers, stats=stats)


def skill_stats(stats: Stats) -> dict[str, object]:
    """The counts of a skill's uses."""
    return {
        "uses": stats.uses,
        "auto": stats.auto,
        "successes": stats.successes,
        "helpful": stats.helpful,
        "not_helpful": stats.not_helpful,
        "corrected": stats.corrected,
        "ineffective_in_a_row": stats.streak,
        "success_rate": stats.success_rate,
        "recent_uses": stats.recent,
        "recent_success_rate": stats.recent_rate,
        "helpful_rate": stats.helpful_rate,
        "factor": stats.factor,
    }


def match_skills(workspace: Workspace, task: TaskText) -> Matches:
    """What a run would be given for a task."""
    return matches_of(preview_task(workspace, MatchTask(task, (), {"channel": "cli"})))


def preview_task(workspace: Workspace, task: MatchTask) -> SkillPreview:
    """What a run would be given for a task; raises `UserError` for an empty one."""
    if not task.text.strip():
        raise UserError("the task is empty", hint='vault-agent skills match "Plan my week"')
    return preview_skills(skills_on_demand(workspace), task)


def matches_of(found: SkillPreview) -> Matches:
    """The skills of a preview."""
    matches = [
        MatchView.of(
            each,
            each.skill,
            fate=each.status,
            slots=dict(each.slots),
            signals=[SkillSignal.of(signal) for signal in each.signals],
        )
        for each in found.matched.matches
    ]
    return Matches(matches, list(found.index.names), found.room, found.auto)


def distrust_skill(workspace: Workspace, name: ShortName) -> Trust:
    """Trust a skill of the vault no more. Trust itself is given in its note in approvals/, or by the command."""
    library = skill_set(workspace, lambda: None, estimate).library
    skill = find_skill(library, name)
    if skill.source is SkillSource.PACKAGE:
        hint = "a skill of yours in {skills}{name}/ goes before it"
        folder = library.home.at(SKILLS)
        raise UserError("{name} comes with the program", hint=hint, name=skill.name, skills=folder)
    revoke(workspace.vault, library, skill, workspace.clock.now())
    return Trust(skill.name, False)
