"""`tool_search`: finds tools that are not described to the model, and has them described from the next step on."""

from collections.abc import Callable, Sequence

from agent.context.tool_choice import TOOL_SEARCH, Score, rank_tools
from agent.errors import ToolRetry
from agent.llm.messages import JsonObject, ToolSpec
from agent.tools import arguments
from agent.tools.tool import RunContext, Tool, ToolOutput

FOUND = 5
"""The most tools that one search finds."""

UsableTools = Callable[[RunContext], Sequence[ToolSpec]]
"""Function from a run's context to all tools that the run may use."""


def tool_search_tool(usable: UsableTools, score: Score | None) -> Tool:
    """The tool; `score` is the fit of texts to a task, None to compare words only."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        others = [spec for spec in usable(context) if spec.name != TOOL_SEARCH]
        if not others:
            raise ToolRetry("this run has no other tools")
        found = rank_tools(arguments.text(call, "purpose"), others, score)[:FOUND]
        lines = [f"- {spec.name}: {spec.description}" for spec in found]
        return ToolOutput("\n".join(["you can call these now:", *lines]), tools=tuple(spec.name for spec in found))

    schema = arguments.schema(
        "purpose",
        purpose={"type": "string", "minLength": 1, "maxLength": 400, "description": "what the tool has to do"},
    )
    description = "Find further tools by what they do, when none of those that you see can do what you need."
    return Tool(TOOL_SEARCH, description, schema, perform, frozenset({"search"}), readonly=True)
