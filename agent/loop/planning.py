"""The plan of a run: offered to the model once the run is long, and read from the calls in the session.

As the session has all calls, the plan survives a summary and a restart.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from agent.context.anchor import Anchor, Plan
from agent.events.runs import HumanResponse, PlanChanged
from agent.llm.messages import ToolCall, ToolResult, ToolSpec
from agent.loop.agent import results_with_calls
from agent.loop.limits import EVERY
from agent.loop.mailbox import response_of
from agent.loop.records import RecordedEvent
from agent.tools.builtin.plan import PLAN, parse_plan
from agent.tools.registry import Called
from agent.tools.tool import RunContext
from agent.tools.tool_names import resolved


def plan_in(of_run: Iterable[RecordedEvent]) -> Plan | None:
    """The last plan in the events of a run; None if there is none."""
    plans = [call for call, result in results_with_calls(of_run) if resolved(call).name == PLAN and not result.failed]
    return parse_plan(plans[-1].arguments) if plans else None


def with_plan(anchor: Anchor, of_run: Iterable[RecordedEvent], described: Iterable[ToolSpec]) -> Anchor:
    """The reminder with the plan; one that the model is told to write down, if it has the tool and no plan."""
    return replace(anchor, plan=plan_in(of_run), wants_plan=any(each.name == PLAN for each in described))


def tools_for(steps: int) -> tuple[str, ...]:
    """The names of the tools that are described to the model once a run is at this step, as it is reminded then."""
    return (PLAN,) if steps > EVERY else ()


def what_else(
    call: ToolCall, result: ToolResult, called: Called, context: RunContext, now: datetime
) -> Iterator[HumanResponse | PlanChanged]:
    """The events of what a call has brought besides its end: the person's answer, a plan."""
    if (response := response_of(result, called, context, now)) is not None:
        yield response
    if called.tool == PLAN and not result.failed and "." not in context.run:  # a sub-run's is a part of a step
        plan = parse_plan(call.arguments)
        yield PlanChanged(context.run, context.session, plan.done, plan.now, plan.left)
