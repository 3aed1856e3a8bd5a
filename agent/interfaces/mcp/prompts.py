"""The vault's reviewed skills as prompts, which a person chooses in their program."""

from collections.abc import Iterable, Mapping

from mcp_types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from agent.errors import UserError
from agent.runs.skill_set import skill_library
from agent.skills.loading.library import SkillLibrary
from agent.skills.reading.skill import Skill
from agent.texts import joined
from agent.workspace.workspace import Workspace

_TASK = "task"


class Prompts:
    """The reviewed skills of one vault."""

    def __init__(self, workspace: Workspace) -> None:
        self._library: SkillLibrary = skill_library(workspace)

    def all(self) -> list[Prompt]:
        """A prompt for each skill that may be used."""
        task = PromptArgument(name=_TASK, description="what to do with it", required=False)
        return [Prompt(name=each.name, description=each.summary, arguments=[task]) for each in self._skills()]

    def state(self) -> object:
        """What differs once a skill is reviewed, changed or taken away."""
        return tuple((each.name, each.summary, each.body) for each in self._skills())

    def get(self, name: str, arguments: Mapping[str, str]) -> GetPromptResult:
        """The text of a skill, with the task below it; raises `UserError` for one that is unknown or not reviewed."""
        skill = next((each for each in self._skills() if each.name == name), None)
        if skill is None:
            known = joined((each.name for each in self._skills()), ", ")
            raise UserError(
                "there is no reviewed skill {name}", hint="the skills are: {known}", name=ascii(name)[1:-1], known=known
            )
        task = arguments.get(_TASK, "").strip()
        text = "\n\n".join(filter(None, [skill.body.strip(), task]))
        return GetPromptResult(
            description=skill.summary, messages=[PromptMessage(role="user", content=TextContent(text=text))]
        )

    def _skills(self) -> Iterable[Skill]:
        self._library.refresh()
        return sorted(
            (each for each in self._library.snapshot().candidates if each.reviewed), key=lambda each: each.name
        )
