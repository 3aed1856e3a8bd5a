"""`tool_search`: finds tools that are not described to the model, and has them described from the next step on."""

from collections.abc import Callable, Sequence

from agent.context.tool_choice import TOOL_SEARCH, find_tools
from agent.errors import ToolRetry
from agent.llm.messages import JsonObject, ToolSpec
from agent.tools import arguments
from agent.tools.tool import RunContext, Tool, ToolOutput

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
