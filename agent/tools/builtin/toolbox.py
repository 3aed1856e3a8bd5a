"""Builds the tools of one vault; their selection for a run is left to the policy."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from agent.attachments.cache import ExtractedTexts
from agent.clock import Clock
from agent.context.assemble import TOOL_SEARCH, find_tools
from agent.dataclass import dataclass
from agent.errors import ToolRetry
from agent.llm.messages import JsonObject, ToolSpec
from agent.memory.forgetting.said_again import SaidAgain
from agent.texts import Language
from agent.tools import arguments
from agent.tools.builtin.changes import undo_tool
from agent.tools.builtin.human import Questions
from agent.tools.builtin.jobs import job_tools
from agent.tools.builtin.memory import Keeper, MemoryTools, forgets_nothing
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.past import PastTools
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
    keeper: Keeper
    delegate: Delegate
    texts: ExtractedTexts = ExtractedTexts()
    forgot: Callable[[str, SaidAgain], object] = forgets_nothing
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
    tools += [grep_tool(notes), tasks_tool(notes, clock), undo_tool(vault)]
    tools += [*MemoryTools(notes, clock, deps.keeper, language, deps.forgot).tools()]
    tools += [Questions(vault, clock, question_hours, language).tool()]
    tools += [*job_tools(notes), *PastTools(notes, clock, deps.search, deps.recall).tools()]
    return (*tools, _delegate_tool(deps.delegate), *more)


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


def tool_search_tool(usable: Callable[[RunContext], Sequence[ToolSpec]]) -> Tool:
    """The tool, which compares words only; `usable` are the tools that a run may use."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        others = [spec for spec in usable(context) if spec.name != TOOL_SEARCH]
        found = find_tools(arguments.text(call, "purpose"), others)[:FOUND]
        if not found:
            names = ", ".join(spec.name for spec in others)
            raise ToolRetry(f"no tool fits these words; there are: {names or 'none'}")
        lines = [f"- {spec.name}: {spec.description}" for spec in found]
        return ToolOutput("\n".join(["you can call these now:", *lines]), tools=tuple(spec.name for spec in found))

    schema = arguments.schema("purpose", purpose={"type": "string", "minLength": 1, "maxLength": 400})
    description = (
        "Find more tools by English words for what they do: to correct or forget a memory, "
        "the person's profile, their desktop."
    )
    return Tool(TOOL_SEARCH, description, schema, perform, frozenset({"search"}), readonly=True)
