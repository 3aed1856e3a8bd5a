"""`plan`: the steps of a long task, as the model sees them. It changes no note: the call itself is what is kept."""

from agent.context.anchor import Plan
from agent.llm.messages import Json, JsonObject
from agent.tools import arguments
from agent.tools.tool import RunContext, Tool, ToolOutput

PLAN = "plan"
"""The name of the tool."""
_MOST = 20
_LONGEST = 200


def parse_plan(call: JsonObject) -> Plan:
    """The plan in the arguments of a call, each step in one line."""
    done, left = (tuple(map(_line, arguments.texts(call, name))) for name in ("done", "left"))
    return Plan(done, _line(arguments.text(call, "now")), left)


def plan_tool() -> Tool:
    """The tool."""
    step: Json = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
    steps: Json = {"type": "array", "maxItems": _MOST, "items": step}
    schema = arguments.schema("now", now=step, done=steps, left=steps)
    description = "Write down the steps of a long task: what is done, what you do now, what is left after it."
    return Tool(PLAN, description, schema, _perform, frozenset({"plan"}), readonly=True, seldom=True)


def _perform(call: JsonObject, context: RunContext) -> ToolOutput:
    return ToolOutput(f"noted, with {len(parse_plan(call).left)} steps after this one")


def _line(step: str) -> str:
    return " ".join(step.split())
