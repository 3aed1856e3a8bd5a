"""The tools of a replay: each call gets the result that was recorded for it, and none has an effect.

Only tools that read the scratch vault's skills are real: what they show is what is measured.
"""

from collections.abc import Collection, Iterable
from dataclasses import field, replace

from agent.dataclass import dataclass
from agent.errors import StopRun, ToolFailed
from agent.growth.gate.past_tasks import PastTask
from agent.llm.messages import JsonObject
from agent.tools.arguments import canonical
from agent.tools.registry import is_tool_name
from agent.tools.tool import RunContext, Tool, ToolOutput

SKILLS = frozenset({"skills"})
_ANY: JsonObject = {"type": "object"}


class NotMeasurable(StopRun):
    """Ends a replay that cannot say anything: a call was never recorded, or the model was not there."""


@dataclass(slots=True)
class RecordedResults:
    """The recorded results of one task, by tool and arguments; those of equal calls are given one after the other, and
    the last one again. `asked` has the equal calls that were made so far."""

    task: PastTask
    asked: list[tuple[str, str]] = field(default_factory=list)

    def tools(self, known: Iterable[Tool]) -> tuple[Tool, ...]:
        """The known tools, and those of the recorded calls that are there no more, answering from the record."""
        kept = {tool.name: self._recorded(tool) for tool in known}
        for call, _ in self.task.calls:
            if call.name not in kept and is_tool_name(call.name):
                gone = Tool(call.name, "", _ANY, _do_nothing, frozenset())
                kept[call.name] = self._recorded(gone)
        return tuple(kept.values())

    def is_all_done(self, readonly: Collection[str]) -> bool:
        """True if all recorded calls that changed something were made again; `readonly` are the names of the tools that
        change nothing."""
        return all(
            _key(call.name, call.arguments) in self.asked
            for call, result in self.task.calls
            if not result.failed and call.name not in readonly
        )

    def _recorded(self, tool: Tool) -> Tool:
        if tool.readonly and tool.groups <= SKILLS and tool.groups:
            return tool

        def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
            return self._result(tool.name, arguments)

        return replace(tool, perform=perform, effect=None, timeout=0.0, egress=False, dangerous=False)

    def _result(self, name: str, arguments: JsonObject) -> ToolOutput:
        key = _key(name, arguments)
        results = [result for call, result in self.task.calls if _key(call.name, call.arguments) == key]
        if not results:
            raise NotMeasurable("{tool} was asked for something that was never recorded", tool=name)
        result = results[min(self.asked.count(key), len(results) - 1)]
        self.asked.append(key)
        if result.failed:
            raise ToolFailed(result.text)
        return ToolOutput(result.text)


def _key(name: str, arguments: JsonObject) -> tuple[str, str]:
    return name, canonical(arguments)


def _do_nothing(arguments: JsonObject, context: RunContext) -> ToolOutput:
    return ToolOutput("")
