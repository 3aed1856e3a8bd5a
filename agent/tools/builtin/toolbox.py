"""Builds the tools of one vault; their selection for a run is left to the policy."""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import TypeAlias, cast

from agent.attachments.cache import ExtractedTexts
from agent.clock import Clock
from agent.context.assemble import TOOL_SEARCH, find_tools
from agent.dataclass import dataclass
from agent.errors import ToolRetry, UserError
from agent.llm.messages import JsonObject, ToolSpec
from agent.memory.forgetting.forgotten_statements import ForgottenStatements
from agent.skills.history.usage import Opinion, Use
from agent.skills.loading.files import BadFolder
from agent.skills.loading.library import SkillLibrary, SkillSnapshot
from agent.skills.reading.skill import FILE, Skill
from agent.texts import Language
from agent.tools import arguments
from agent.tools.builtin.changes import log_tool, undo_tool
from agent.tools.builtin.human import Questions
from agent.tools.builtin.jobs import job_tools
from agent.tools.builtin.memory import MemoryTools, MemoryWriter, forgets_nothing
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.past import PastTools
from agent.tools.builtin.plan import plan_tool
from agent.tools.builtin.search import RecallMemories, SearchNotes, grep_tool, recall_tool, search_tool, tasks_tool
from agent.tools.builtin.vault import vault_tools
from agent.tools.text_origin import text_origin_of
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.vault.store import Vault

Delegate: TypeAlias = Callable[[str, str, RunContext], ToolOutput]
"""Function from (task, background, context of the calling run) to the sub-run's answer, `untrusted` if the sub-run was
tainted. The sub-run has separate limits; raises what a tool may raise."""


@dataclass(frozen=True, slots=True)
class ToolDeps:
    """The functions that tools need from other packages: two searches, the comparison of a new entry with existing
    ones, sub-runs, and the texts of files that are no notes."""

    search: SearchNotes
    recall: RecallMemories
    writer: MemoryWriter
    delegate: Delegate
    texts: ExtractedTexts = ExtractedTexts()
    forgot: Callable[[str, ForgottenStatements], object] = forgets_nothing
    """Told what was forgotten in a run, which is not over then."""


def builtin_tools(
    vault: Vault,
    clock: Clock,
    question_hours: float,
    deps: ToolDeps,
    more: Iterable[Tool],
    language: Language,
) -> tuple[Tool, ...]:
    """All built-in tools, and `more`: those enabled by settings (`web_fetch`, `shell_run`).

    Notes that ask are written in `language`.
    """
    notes = Notes(vault, text_origin_of(vault), deps.texts)
    tools = [*vault_tools(notes), search_tool(notes, deps.search), recall_tool(notes, deps.recall)]
    tools += [grep_tool(notes), tasks_tool(notes, clock), log_tool(vault), undo_tool(vault)]
    tools += [*MemoryTools(notes, clock, deps.writer, language, deps.forgot).tools()]
    tools += [Questions(vault, clock, question_hours, language).tool()]
    tools += [*job_tools(notes), *PastTools(notes, clock, deps.search, deps.recall).tools()]
    return (*tools, _delegate_tool(deps.delegate), plan_tool(), *more)


def _delegate_tool(delegate: Delegate) -> Tool:
    """The tool `delegate`: gives a part of the task to a sub-run with separate context and limits."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        return delegate(arguments.text(call, "task"), arguments.text(call, "background"), context)

    schema = arguments.schema(
        "task",
        task={"type": "string", "minLength": 1, "description": "with what to hand back"},
        background={"type": "string"},
    )
    description = (
        "Give a part of the task to a helper, who sees only what you write here. "
        "Several parts: call for all in one reply."
    )
    return Tool("delegate", description, schema, perform, frozenset({"orchestration"}), parallel=True, timeout=0)


FOUND = 5
"""The most tools that one search finds."""


def tool_search_tool(
    usable: Callable[[RunContext], Sequence[ToolSpec]],
    servers: Sequence[str] = (),
    absences: Callable[[], Sequence[str]] = tuple,
) -> Tool:
    """The tool, which compares words only; `usable` are the tools that a run may use. `servers` are those that bring
    some of them, and `absences` says why some of these are not there."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        known = {TOOL_SEARCH, *context.described}
        others = [spec for spec in usable(context) if spec.name not in known]
        found = find_tools(arguments.text(call, "purpose"), others)[:FOUND]
        if not found:
            names = ", ".join(spec.name for spec in others)
            there = f"no other tool fits these words; beside those that you have there are: {names or 'none'}"
            raise ToolRetry("; ".join((there, *absences())))
        lines = [f"- {spec.name}: {spec.description}" for spec in found]
        return ToolOutput("\n".join(["you can call these now:", *lines]), tools=tuple(spec.name for spec in found))

    schema = arguments.schema("purpose", purpose={"type": "string", "minLength": 1, "maxLength": 400})
    description = (
        "Find more tools by English words for what they do: to correct or forget a memory, "
        "what changed and when, the person's profile, their desktop."
    )
    description += f" Also of these programs: {', '.join(servers)}." if servers else ""
    return Tool(TOOL_SEARCH, description, schema, perform, frozenset({"search"}), readonly=True)


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
