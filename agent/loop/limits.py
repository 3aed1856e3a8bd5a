"""The progress of a run, compared with its limits."""

from collections.abc import Iterable

from agent.config.run_settings import RunSettings as Limits
from agent.dataclass import dataclass
from agent.errors import LimitReached
from agent.llm.messages import Assistant, ToolResult
from agent.loop.records import RecordedEvent, Spoken
from agent.texts import Sentence


@dataclass(slots=True)
class Progress:
    """The steps, tool calls and time that a run has used. `since` is the monotonic time of its begin or resumption."""

    since: float
    steps: int = 0
    tool_calls: int = 0

    @classmethod
    def of(cls, events: Iterable[RecordedEvent], now: float) -> "Progress":
        """The progress of a run that is resumed, counted from the events in its note."""
        said = [event.message for event in events if isinstance(event, Spoken)]
        steps = sum(isinstance(message, Assistant) for message in said)
        return cls(now, steps, sum(isinstance(message, ToolResult) for message in said))

    def check_step(self, limits: Limits, now: float) -> None:
        """Raise `LimitReached` when the next step would pass a limit."""
        if self.steps >= limits.steps:
            raise _reached(Sentence("{count} steps", count=limits.steps), "run.steps")
        self.check_call(limits, now)

    def check_call(self, limits: Limits, now: float) -> None:
        """Raise `LimitReached` when the next tool call would pass a limit."""
        if self.tool_calls >= limits.tool_calls:
            raise _reached(Sentence("{count} uses of tools", count=limits.tool_calls), "run.tool_calls")
        if self.is_late(limits, now):
            raise out_of_time(limits)

    def is_late(self, limits: Limits, now: float) -> bool:
        """True if the run has used up its time."""
        return now - self.since >= limits.seconds


def out_of_time(limits: Limits) -> LimitReached:
    """The error that ends a run after its time is used up."""
    return _reached(Sentence("{count:g} seconds", count=limits.seconds), "run.seconds")


def _reached(what: Sentence, key: str) -> LimitReached:
    return LimitReached(
        "the run has used its {what}",
        limit=key,
        hint="say 'go on' in the same session, or raise it: vault-agent config set {key} …",
        concludes=True,
        what=what,
        key=key,
    )
