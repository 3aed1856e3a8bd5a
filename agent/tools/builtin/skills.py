"""The tool `skills`, with which a model lists, reads and rates skills.

A skill that is not reviewed on this machine is shown as untrusted text and taints the run. Finding and parsing skills
is left to `agent.skills`, the skills that a task names to the context.
"""

from collections.abc import Callable
from difflib import get_close_matches
from typing import cast

from agent.dataclass import dataclass
from agent.errors import ToolRetry, UserError
from agent.llm.messages import JsonObject
from agent.skills.history.usage import Opinion, Use
from agent.skills.loading.files import BadFolder
from agent.skills.loading.library import SkillLibrary, SkillSnapshot
from agent.skills.reading.skill import FILE, Skill
from agent.tools import arguments
from agent.tools.tool import RunContext, Tool, ToolOutput

RecordOpinion = Callable[[str, Opinion, RunContext], Use]
"""Records an opinion about a skill in a run; raises `UserError`."""
OpenSkill = Callable[[Skill, RunContext], str]
"""Returns the text of a skill for a run, which follows it from now on if it is reviewed."""
_GROUP = frozenset({"skills"})
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class _Tools:
    library: SkillLibrary
    say: RecordOpinion
    opened: OpenSkill

    def list(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """List the names and summaries of all skills."""
        skills = [skill for skill in self.library.snapshot().candidates if skill.reviewed]
        new = [skill.name for skill in self.library.snapshot().candidates if not skill.reviewed]
        lines = [f"- {skill.name}: {skill.summary}" for skill in skills[:_SHOWN]]
        lines += [f"and {len(skills) - _SHOWN} more"] if len(skills) > _SHOWN else []
        lines += [f"not looked at by the person yet, so not for use: {', '.join(new[:_SHOWN])}"] if new else []
        return ToolOutput("\n".join(lines) or "there are no skills")

    def show(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """Show a skill's whole text, or one of its files; or some lines of either, for a model with a small window."""
        skill = _named(self.library.snapshot(), arguments.text(call, "name"))
        path = arguments.text(call, "file") if "file" in call else ""
        if not path or path == FILE:
            text = self.opened(skill, context)
            return ToolOutput(_some_lines(call, text, skill.name), untrusted="" if skill.reviewed else _stranger(skill))
        try:
            data, trusted = self.library.file(skill, path)
        except (BadFolder, OSError) as error:
            raise ToolRetry(f"{error}; the files of {skill.name}: {', '.join(skill.files) or 'none'}") from error
        if b"\0" in data[:1024]:
            raise ToolRetry(f"{path} is no text")
        text = _some_lines(call, data.decode("utf-8", "replace"), path)
        return ToolOutput(text, untrusted="" if trusted else _stranger(skill))

    def feedback(self, call: JsonObject, context: RunContext) -> ToolOutput:
        """Record the model's opinion about a skill in this run."""
        skill = _named(self.library.snapshot(), arguments.text(call, "name"))
        opinion = cast(Opinion, arguments.text(call, "verdict"))
        try:
            self.say(skill.name, opinion, context)
        except UserError as error:
            raise ToolRetry(error.message) from error
        return ToolOutput(f"noted: {skill.name} was {opinion.replace('_', ' ')} in this run")


def skill_tools(library: SkillLibrary, say: RecordOpinion, opened: OpenSkill) -> tuple[Tool, ...]:
    """The actions of the tool, for the skills of one vault."""
    tools = _Tools(library, say, opened)
    name: JsonObject = {"type": "string", "minLength": 1, "maxLength": 64}
    file: JsonObject = {"type": "string", "maxLength": 300}
    verdict: JsonObject = {"type": "string", "enum": ["helpful", "not_helpful"]}
    return (
        Tool("skills.list", "instructions for kinds of work", arguments.schema(), tools.list,
             _GROUP, readonly=True),
        Tool("skills.show", "read one, or its `file`, before such work",
             arguments.schema("name", name=name, file=file, lines=arguments.LINES), tools.show, _GROUP, readonly=True),
        Tool("skills.feedback", "on one that you used",
             arguments.schema("name", "verdict", name=name, verdict=verdict), tools.feedback, _GROUP, timeout=0),
    )  # fmt: skip


def _some_lines(call: JsonObject, text: str, name: str) -> str:
    """The lines of the text that the call asks for, with their numbers; all of it if it asks for none."""
    if "lines" not in call:
        return text
    lines = text.split("\n")
    first, last = arguments.line_range(call, len(lines), name)
    return "\n".join([f"{name}, lines {first}-{last} of {len(lines)}:", "", *lines[first - 1 : last]])


def _named(shelf: SkillSnapshot, name: str) -> Skill:
    skill = shelf.get(name)
    if skill is not None:
        return skill
    near = get_close_matches(name, list(shelf.named), n=3, cutoff=0.5)
    raise ToolRetry(f"there is no skill {ascii(name)[1:-1]}; " + (f"did you mean {' or '.join(near)}?" if near else
                    "skills (list) names them"))  # fmt: skip


def _stranger(skill: Skill) -> str:
    return f"{skill.path} (a skill that nobody has reviewed)"
