"""`skill_list`, `skill_show` and `skill_feedback`: the tools with which a model reads and rates skills.

A skill that is not reviewed on this machine is shown as untrusted text and taints the run. Finding and parsing skills
is left to `agent.skills`, the skills given at the start of a run to the context.
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
from agent.skills.matching.skill_text import format_files
from agent.skills.reading.skill import FILE, Skill
from agent.tools import arguments
from agent.tools.tool import RunContext, Tool, ToolOutput

RecordOpinion = Callable[[str, Opinion, RunContext], Use]
"""Records an opinion about a skill in a run; raises `UserError`."""
NoteOpened = Callable[[str, RunContext], object]
"""Called when a run's model has read a skill."""
VersionOf = Callable[[Skill, RunContext], Skill]
"""Returns a skill as a run is shown it: itself, or its variant on trial."""
_GROUP = frozenset({"skills"})
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class _Tools:
    library: SkillLibrary
    say: RecordOpinion
    opened: NoteOpened
    version: VersionOf

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
            skill = self.version(skill, context)
            text = "\n\n".join(
                filter(None, [f"# Skill {skill.name}: {skill.summary}", skill.body, format_files(skill)])
            )
            if skill.reviewed:
                self.opened(skill.name, context)
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


def itself(skill: Skill, context: RunContext) -> Skill:
    """The skill itself, for any run."""
    return skill


def skill_tools(
    library: SkillLibrary, say: RecordOpinion, opened: NoteOpened, version: VersionOf = itself
) -> tuple[Tool, ...]:
    """The three tools for the skills of one vault."""
    tools = _Tools(library, say, opened, version)
    name: JsonObject = {"type": "string", "minLength": 1, "maxLength": 64, "description": "the skill's name"}
    file: JsonObject = {
        "type": "string",
        "maxLength": 300,
        "description": "a file of the skill, as skill_show lists them",
    }
    verdict: JsonObject = {"type": "string", "enum": ["helpful", "not_helpful"]}
    return (
        Tool("skill_list", "List the skills: how to do particular kinds of work.", arguments.schema(), tools.list,
             _GROUP, readonly=True),
        Tool("skill_show", "Read a skill, or a file that belongs to it, before doing work of its kind.",
             arguments.schema("name", name=name, file=file, lines=arguments.LINES), tools.show, _GROUP, readonly=True),
        Tool("skill_feedback", "Say whether a skill that you used in this run was helpful.",
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
                    "skill_list names them"))  # fmt: skip


def _stranger(skill: Skill) -> str:
    return f"{skill.path} (a skill that nobody has reviewed)"
