"""The tool calls of one answer: calls that may run in parallel, calls that are not carried out, and results."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

from agent.errors import Interrupted, NeedsApproval, StopRun
from agent.events.runs import ToolCallFailed, ToolCallStarted, ToolCompleted
from agent.llm.messages import Assistant, ToolCall, ToolResult, ToolSpec
from agent.loop.agent import Agent
from agent.loop.records import RecordedEvent, Spoken
from agent.texts import Language, text
from agent.tools.arguments import main_argument
from agent.tools.registry import Called
from agent.tools.tool import RunContext
from agent.tools.tool_names import resolved

PARALLEL = 4
"""Calls that may run at the same time."""


def refused_calls(calls: Sequence[ToolCall], most: int) -> tuple[ToolResult, ...]:
    """A failed result for each call of one answer after the first `most`; it states that the call was not carried
    out."""
    told = f"not carried out: at most {most} calls of one answer are; ask again for what is still needed"
    return tuple(ToolResult(call.id, call.name, told, failed=True) for call in calls[most:])


def all_differ(calls: Sequence[ToolCall]) -> bool:
    """True if no call occurs twice: the second of two equal calls may depend on the first one's failure."""
    return len(calls) > 1 and not any(
        one.name == other.name and one.arguments == other.arguments for one, other in combinations(calls, 2)
    )


def call_started(call: ToolCall, described: Iterable[ToolSpec], context: RunContext) -> ToolCallStarted:
    """The event for the beginning of a call; `described` are the tools described to the model."""
    schema, meant = next((spec.parameters for spec in described if spec.name == call.name), {}), resolved(call)
    return ToolCallStarted(context.run, context.session, call.id, meant.name, main_argument(meant.arguments, schema))


def call_ended(result: ToolResult, called: Called, context: RunContext) -> ToolCompleted | ToolCallFailed:
    """The event for the end of a call; `result` is what the model sees of it."""
    run, session, seconds = context.run, context.session, called.seconds
    if result.failed:
        return ToolCallFailed(run, session, result.call, called.tool, seconds, result.text, called.denied)
    return ToolCompleted(run, session, result.call, called.tool, seconds, len(result.text))


def call_together(
    perform: Callable[[ToolCall], Called], calls: Sequence[ToolCall]
) -> tuple[list[tuple[ToolCall, Called]], StopRun | None]:
    """Perform calls at the same time, each to its end; one that stops the run does not stop the others.

    Returns the results in the order of the calls, and the error that stops the run: a person's stop, else the first.
    """
    with ThreadPoolExecutor(PARALLEL, "vault-agent-tool") as pool:
        futures = [pool.submit(perform, call) for call in calls]
    done: list[tuple[ToolCall, Called]] = []
    stops: list[StopRun] = []
    for call, future in zip(calls, futures, strict=True):
        try:
            done.append((call, future.result()))
        except StopRun as stop:
            stops.append(stop)
    return done, next((stop for stop in stops if isinstance(stop, Interrupted)), stops[0] if stops else None)


def asked_with(stop: NeedsApproval, agent: Agent, calls: Iterable[ToolCall], context: RunContext) -> NeedsApproval:
    """The stop, once the person was asked about all of these calls that need a yes, too, as `context` says."""
    given = (agent.tools.call(call, context.at(call.id)).given for call in calls)
    others = dict.fromkeys(each.text for each in given if each is not None and each.text not in {"", stop.path})
    if not others:
        return stop
    waits = text("approval.too", agent.language, first=stop.message, others=", ".join(others))
    return NeedsApproval(waits, path=stop.path, hint=stop.hint)


def results_with_calls(events: Iterable[RecordedEvent]) -> Iterator[tuple[ToolCall, ToolResult]]:
    """The results in a run's events, each with its call."""
    calls: dict[str, ToolCall] = {}
    for event in events:
        match event:
            case Spoken(Assistant(calls=asked)):
                calls |= {call.id: call for call in asked}
            case Spoken(ToolResult(call=id) as result) if id in calls:
                yield calls[id], result


def unfinished_result(call: ToolCall) -> ToolResult:
    """The result of a call that was not carried out before the end of the run."""
    return ToolResult(call.id, call.name, "not carried out: the run it belonged to was over", failed=True)


def commit_lines(called: Called, language: Language) -> str:
    """The commits that a call made, as lines for people."""
    commits = called.given.commits if called.given else ()
    return "\n".join(f"- {text('session_note.commit', language)} `{commit[:12]}`" for commit in commits)
