"""What a run does now, in a line for each thing: the model, a pause before its next try, the tools with their subjects.

After ten seconds a line says for how long. Drawing the lines is left to `terminal.live`.
"""

import math
from collections.abc import Sequence
from dataclasses import field

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.events.runs import ModelRetry, PlanChanged, ToolCallStarted
from agent.llm.messages import Cancelled, never
from agent.markdown.title import clipped
from agent.texts import Language, text

PATIENCE = 10.0
"""Seconds after which a line says how long the wait has been."""
_LONGEST = 60
"""Characters of a tool's subject: the rest of the line is for its name and the seconds."""


@dataclass(frozen=True, slots=True)
class Status:
    """What happens now, a line for each thing, and the line that the person is typing; empty texts are not shown."""

    lines: Sequence[str] = ()
    typed: str = ""


@dataclass(slots=True)
class ActivityLine:
    """What happens now; `stopping` is true once the person has asked the run to stop."""

    clock: Clock
    language: Language
    stopping: Cancelled = never
    plan: PlanChanged | None = None
    """The model's plan, if it has written one down; it stands in the last line."""
    _what: str = ""
    _since: float = 0.0
    _tools: dict[str, tuple[str, float]] = field(default_factory=dict)
    _retry: tuple[str, float] = ("", 0.0)

    def wait_for(self, what: str) -> None:
        """This happens from now on, until a tool is used or the next call of this."""
        self._what, self._since, self._retry = what, self.clock.monotonic(), ("", 0.0)
        self._tools = {}

    def start_tool(self, event: ToolCallStarted) -> None:
        """A tool is used from now on."""
        self._tools = {**self._tools, event.call: (tool_label(event.tool, event.subject), self.clock.monotonic())}

    def end_tool(self, call: str, tool: str) -> str:
        """The label of a tool that is not used any more."""
        label, _ = self._tools.get(call, (tool_label(tool, ""), 0.0))
        self._tools = {id: each for id, each in self._tools.items() if id != call}
        self._since = self.clock.monotonic()
        return label

    def retry(self, event: ModelRetry) -> None:
        """The model is asked again after a pause."""
        self._retry = (event.reason, self.clock.monotonic() + event.seconds)

    def lines(self) -> tuple[str, ...]:
        """What happens, one line each; empty for nothing."""
        now = self.clock.monotonic()
        if self.stopping():
            return (text("live.stopping", self.language),)
        reason, until = self._retry
        if until > now:
            return (text("live.retry", self.language, seconds=math.ceil(until - now), reason=reason),)
        waits = tuple(self._tools.values()) or (((self._what, self._since),) if self._what else ())
        return (*(self._with_seconds(what, now - since) for what, since in waits), *self._plan())

    def _plan(self) -> tuple[str, ...]:
        if self.plan is None:
            return ()
        done, step = len(self.plan.done), clipped(self.plan.now, _LONGEST)
        return (text("live.plan", self.language, number=done + 1, all=done + 1 + len(self.plan.left), step=step),)

    def _with_seconds(self, what: str, seconds: float) -> str:
        if seconds < PATIENCE:
            return what
        return text("live.waited", self.language, what=what, seconds=int(seconds))


def tool_label(tool: str, subject: str) -> str:
    """A tool with the subject of its call, such as `search_vault "roof"`."""
    line = " ".join(subject.split())
    return f'{tool} "{clipped(line, _LONGEST)}"' if line else tool
