"""The skills that a run would be given for a task, without a run: the same matching, in the same room."""

from collections.abc import Iterable
from dataclasses import replace

from agent.context.assemble import REFRESH
from agent.context.budget import Window, window_of
from agent.context.tokens import MESSAGE
from agent.dataclass import dataclass
from agent.llm.providers import providers
from agent.runs.active_skills import INDEX, NAME, added_in_run, index_of
from agent.runs.skill_set import SkillSet
from agent.skills.matching.matcher import Matched, MatchTask
from agent.skills.matching.selection import Match, MatchStatus
from agent.skills.matching.skill_text import SkillIndex
from agent.texts import Sentence


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
    model = providers(skills.workspace.settings.llm, skills.workspace.vault.clock, skills.count).main.model
    window = window_of(model)
    room = min(window.most(NAME), window.texts_room)
    matched = opened = skills.match(replace(task, tools=()), room=room)
    if task.tools:
        matched = _in_run(opened, skills.match(task, present=_names(opened.given), room=REFRESH), settings.most)
    left = window.texts_room - sum(each.tokens + MESSAGE for each in opened.given)
    index = index_of(opened, min(window.most(INDEX), left), skills)
    return SkillPreview(matched, window, skills.text_room(room), index, settings.auto)


def _names(matches: Iterable[Match]) -> frozenset[str]:
    return frozenset(match.skill.name for match in matches)


def _in_run(opened: Matched, later: Matched, most: int) -> Matched:
    """The matches with the tools of a run, each as it was given when the run began, or as it is added then."""
    given = {each.skill.name: each for each in opened.given}
    active = [each for each in opened.given if each.status is MatchStatus.ACTIVE]
    added = _names(added_in_run(later, active, most))
    seen = []
    for each in later.matches:
        if each.skill.name in given:
            seen.append(replace(given[each.skill.name], signals=each.signals))
        elif each in later.given and each.skill.name not in added:
            why = Sentence("the run has others, or one of its group, already")
            seen.append(replace(each, status=MatchStatus.CROWDED, why=why, text="", tokens=0))
        else:
            seen.append(each)
    return replace(later, matches=tuple(seen))


def format_given(found: Match) -> Sentence:
    """What a run is given of a skill, in words."""
    match found.status:
        case MatchStatus.ACTIVE if found.on_request:
            steps = ", ".join(found.on_request)
            given = "given with its steps: {tokens:,} tokens; the texts of {steps} are opened on request"
            return Sentence(given, tokens=found.tokens, steps=steps)
        case MatchStatus.ACTIVE:
            return Sentence("given whole: {tokens:,} tokens", tokens=found.tokens)
        case MatchStatus.SUMMARY:
            return Sentence("given: its description and how to open it, {tokens:,} tokens", tokens=found.tokens)
        case _:
            return Sentence("not given")
