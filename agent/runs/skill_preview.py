"""The skills that a run would be given or offered for a task, without a run: the same matching, in the same room."""

from dataclasses import replace

from agent.context.budget import Window, window_of
from agent.dataclass import dataclass
from agent.llm.providers import providers
from agent.runs.active_skills import INDEX, NAME, index_of
from agent.runs.skill_set import SkillSet
from agent.skills.matching.matcher import Matched, MatchTask
from agent.skills.matching.skill_text import Match, MatchStatus, SkillIndex
from agent.texts import Sentence


@dataclass(frozen=True, slots=True)
class SkillPreview:
    """What the configured model would be given: the matches, and the index of all skills; `left_out` are the reviewed
    ones for which the index has no room.

    `room` is that of the matches together, in tokens. `auto` is False if the settings let runs have no skills at all.
    """

    matched: Matched
    window: Window
    room: int
    index: SkillIndex
    left_out: tuple[str, ...]
    auto: bool


def preview_skills(skills: SkillSet, task: MatchTask) -> SkillPreview:
    """The skills that a run in a new session would be given or offered; the `tools` of the task are those used so far.

    Raises `ConfigError` for an incomplete configuration of the model.
    """
    settings = skills.settings
    model = providers(skills.workspace.settings.llm, skills.workspace.vault.clock, skills.count).main.model
    window = window_of(model)
    room = min(window.most(NAME), window.texts_room)
    matched = skills.match(task, room=room)
    index = index_of(skills.match(replace(task, tools=())), window.most(INDEX), skills)
    known = skills.library.snapshot().candidates
    left_out = tuple(each.name for each in known if each.reviewed and each.name not in index.names)
    return SkillPreview(matched, window, skills.text_room(room), index, left_out, settings.auto)


def format_match(found: Match) -> Sentence:
    """The part of a skill that a run gets, in words."""
    match found.status:
        case MatchStatus.ACTIVE if found.on_request:
            steps = ", ".join(found.on_request)
            sentence = "given with its steps: {tokens:,} tokens; the texts of {steps} are opened on request"
            return Sentence(sentence, tokens=found.tokens, steps=steps)
        case MatchStatus.ACTIVE:
            return Sentence("given whole: {tokens:,} tokens", tokens=found.tokens)
        case MatchStatus.OFFERED:
            return Sentence("named to the model, which opens it if it fits")
        case _:
            return Sentence("not given")
