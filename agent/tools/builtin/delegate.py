"""`delegate`: a part of the task is given to a run of its own, with its own context and a share of the budget.

The run itself is the loop's and comes in as a function, so that tools need not know the loop.
"""

from collections.abc import Callable
from typing import TypeAlias

from agent.llm.messages import Object
from agent.tools import arguments
from agent.tools.tool import RunContext, Tool, ToolOutput

Delegate: TypeAlias = Callable[[str, str, RunContext], ToolOutput]
"""(task, background, the calling run) to the sub-run's answer. `untrusted` is set when the sub-run was tainted; it has
its own limits, and raises what a tool may raise."""


def delegate_tool(delegate: Delegate) -> Tool:
    """The tool around the function that starts a sub-run and waits for it."""

    def perform(call: Object, context: RunContext) -> ToolOutput:
        return delegate(arguments.text(call, "task"), arguments.text(call, "background"), context)

    schema: Object = {
        "type": "object",
        "properties": {
            "task": {"type": "string", "minLength": 1, "description": "what to do and what to hand back"},
            "background": {"type": "string", "description": "what it has to know: it does not see this conversation"},
        },
        "required": ["task"],
        "additionalProperties": False,
    }
    said = (
        "Give a part of the task to a helper of your own, who sees only what you write here, and wait for its answer."
    )
    return Tool("delegate", said, schema, perform, frozenset({"orchestration"}), timeout=0)
