"""Skills: what there is, what would be used for a task, how they did; and trust, which is a person's to give."""

from typing import Annotated, Any

import msgspec

from agent.context.tokens import estimate
from agent.errors import UserError
from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.api.typed import typed
from agent.interfaces.http.operation import Call, Operation
from agent.runs.skill_lookup import find_skill, skills_on_demand
from agent.runs.skill_preview import preview_skills
from agent.runs.skill_set import skill_library, skill_set
from agent.skills.documents import match_document, problem_document, skill_document
from agent.skills.history.stats import stats_document
from agent.skills.matching.matcher import MatchTask
from agent.skills.reading.skill import SkillSource
from agent.skills.trust.review_note import revoke

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class BySkill(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A skill by its name."""

    name: Name


class SkillView(msgspec.Struct, frozen=True):
    """A skill; one that was not `reviewed` is not used. `triggers`: it says itself for what it is wanted."""

    name: str
    description: str
    source: str
    path: str
    reviewed: bool
    triggers: bool


class SkillProblemView(msgspec.Struct, frozen=True):
    """What is wrong in a skill's file."""

    path: str
    line: int
    reason: str


class Skills(msgspec.Struct, frozen=True):
    """All skills, why some cannot be used, and warnings about others."""

    skills: list[SkillView]
    problems: list[SkillProblemView]
    warnings: list[SkillProblemView]
    next_cursor: NEXT


class WholeSkill(SkillView, frozen=True, kw_only=True):
    """A skill with its text, its files, and how it did."""

    body: str
    files: list[str]
    stats: dict[str, Any]


class Matching(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task, for which skills are tried."""

    task: Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]


class SkillSignal(msgspec.Struct, frozen=True):
    """One thing that speaks for a skill."""

    type: str
    detail: str
    weight: float


class MatchView(msgspec.Struct, frozen=True):
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


class Matches(msgspec.Struct, frozen=True):
    """The skills that a run would be given for a task, and the others that something speaks for."""

    matches: list[MatchView]
    index: list[str]
    room: int
    auto: bool


class Trust(msgspec.Struct, frozen=True):
    """Whether a skill is trusted on this machine."""

    name: str
    reviewed: bool


def list_skills(call: Call[ListParams, None]) -> Skills:
    """All skills."""
    shelf = skill_library(call.service.workspace).snapshot()
    shown, after = page_of(shelf.candidates, lambda each: each.path, call.params)
    problems = typed([problem_document(each) for each in shelf.errors], list[SkillProblemView])
    warnings = typed([problem_document(each) for each in shelf.warnings], list[SkillProblemView])
    return Skills(typed([skill_document(each) for each in shown], list[SkillView]), problems, warnings, after)


def show_skill(call: Call[BySkill, None]) -> WholeSkill:
    """One skill in full."""
    found = skills_on_demand(call.service.workspace)
    skill = find_skill(found.library, call.params.name)
    stats = stats_document(found.history.stats(skill.name))
    return typed({**skill_document(skill), "body": skill.body, "files": list(skill.files), "stats": stats}, WholeSkill)


def match_skills(call: Call[Matching, None]) -> Matches:
    """What a run would be given for a task."""
    task = call.params.task
    if not task.strip():
        raise UserError("the task is empty", hint='vault-agent skills match "Plan my week"')
    found = preview_skills(skills_on_demand(call.service.workspace), MatchTask(task, (), {"channel": "cli"}))
    matches = typed([match_document(each) for each in found.matched.matches], list[MatchView])
    return Matches(matches, list(found.index.names), found.room, found.auto)


def distrust_skill(call: Call[BySkill, None]) -> Trust:
    """Trust a skill of the vault no more. Trust itself is given in its note in approvals/, or by the command."""
    found = skill_set(call.service.workspace, lambda: None, estimate)
    skill = find_skill(found.library, call.params.name)
    if skill.source is SkillSource.PACKAGE:
        raise UserError("{name} comes with the program", hint="a skill of yours goes before it", name=skill.name)
    revoke(found.library, skill)
    return Trust(skill.name, False)


OPERATIONS = (
    Operation("GET", "/api/v1/skills", "list_skills", "The skills", list_skills, Skills, ListParams),
    Operation("GET", "/api/v1/skills/match", "match_skills", "What fits a task", match_skills, Matches, Matching),
    Operation("GET", "/api/v1/skills/{name}", "show_skill", "One skill", show_skill, WholeSkill, BySkill,
              problems=(404,)),
    Operation("POST", "/api/v1/skills/{name}/revoke", "distrust_skill", "Trust a skill no more", distrust_skill, Trust,
              BySkill, problems=(404, 409)),
)  # fmt: skip
