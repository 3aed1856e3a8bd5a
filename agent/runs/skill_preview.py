"""The skills that a run would be given for a task, without a run: the same matching, in the same room."""

from dataclasses import dataclass, replace

from agent.context.assemble import REFRESH
from agent.context.budget import Window, window_of
from agent.context.tokens import MESSAGE
from agent.llm.providers import providers
from agent.runs.active_skills import INDEX, NAME, index_of
from agent.runs.skill_set import SkillSet
from agent.skills.matching.matcher import Matched, MatchTask
from agent.skills.matching.selection import MatchStatus
from agent.skills.matching.skill_text import SkillIndex


@dataclass(frozen=True, slots=True)
class SkillPreview:
    """What the configured model would be given: the matches, and the index of other skills.

    `room` is that of the matches together, in tokens. `auto` is False if the settings let runs have no skills at all.
    """

    matched: Matched
    window: Window
    room: int
    index: SkillIndex
    auto: bool


def preview_skills(skills: SkillSet, task: MatchTask) -> SkillPreview:
    """The skills that a run in a new session would be given; those that only the `tools` of the task bring are added
    in the middle of a run, where the room is smaller.

    Raises `ConfigError` for an incomplete configuration of the model.
    """
    settings = skills.settings
    model = providers(skills.workspace.settings.llm, skills.workspace.clock, skills.count).main.model
    window = window_of(model)
    room = min(window.most(NAME), window.texts_room)
    matched = opened = skills.match(replace(task, tools=()), room=room)
    if task.tools:
        given = {each.skill.name: each for each in opened.given}
        later = skills.match(task, present=given, room=REFRESH)
        known = ((each, given.get(each.skill.name)) for each in later.matches)
        seen = (replace(first, signals=each.signals) if first is not None else each for each, first in known)
        matched = replace(later, matches=tuple(seen))
    left = window.texts_room - sum(each.tokens + MESSAGE for each in opened.given)
    index = index_of(opened, min(window.most(INDEX), left), skills)
    return SkillPreview(matched, window, min(room, settings.tokens), index, settings.auto)


def format_given(status: MatchStatus, tokens: int) -> str:
    """What a run is given of a skill with this decision, in words."""
    match status:
        case MatchStatus.ACTIVE:
            return f"given whole: {tokens:,} tokens"
        case MatchStatus.SUMMARY:
            return f"given: its description and how to open it, {tokens:,} tokens"
        case _:
            return "not given"
