"""The tool calls of one answer: which may run beside each other, which are not carried out, and their results."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from agent.llm.messages import Assistant, ToolCall, ToolResult
from agent.loop.records import RecordedEvent, Spoken


def refused_calls(calls: Sequence[ToolCall], most: int) -> tuple[ToolResult, ...]:
    """A failed result for each call of one answer beyond the first `most`, which tells the model that it was not
    carried out."""
    told = f"not carried out: at most {most} calls of one answer are; ask again for what is still needed"
    return tuple(ToolResult(call.id, call.name, told, failed=True) for call in calls[most:])


def all_differ(calls: Sequence[ToolCall]) -> bool:
    """True when no call occurs twice: the second of two equal calls may depend on how the first one fails."""
    return len(calls) > 1 and not any(
        one.name == other.name and one.arguments == other.arguments for one, other in combinations(calls, 2)
    )


def results_with_calls(events: Iterable[RecordedEvent]) -> Iterator[tuple[ToolCall, ToolResult]]:
    """The results in a run's events, each with the call that it answers."""
    calls: dict[str, ToolCall] = {}
    for event in events:
        match event:
            case Spoken(Assistant(calls=asked)):
                calls |= {call.id: call for call in asked}
            case Spoken(ToolResult(call=id) as result) if id in calls:
                yield calls[id], result


def unfinished_result(call: ToolCall) -> ToolResult:
    """The result of a call that was not carried out before its run was over."""
    return ToolResult(call.id, call.name, "not carried out: the run it belonged to was over", failed=True)
