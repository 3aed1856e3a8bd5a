"""The live view of a run on a terminal: the model's text as it arrives, the tools that it uses, and what it waits for.

A pipe gets only the finished answer. The lines below an answer are left to the commands, and drawing to
`terminal.live`; a terminal on which the cursor cannot be moved gets plain text.

What a run does now, in a line for each thing: the model, a pause before its next try, the tools with their subjects.

After ten seconds a line says for how long. Drawing the lines is left to `terminal.live`.
"""

import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from agent.clock import Clock, SystemClock
from agent.context.anchor import Plan
from agent.dataclass import dataclass
from agent.escape import escape_line
from agent.events.bus import Bus
from agent.events.runs import IterationStarted, ModelRetry, PlanChanged, ToolCallFailed, ToolCallStarted, ToolCompleted
from agent.interfaces.cli.printing import EscapedStream, Styled, at_words, can_draw, show, size
from agent.llm.messages import Cancelled, never
from agent.markdown.title import clipped
from agent.texts import Language, text

if TYPE_CHECKING:
    from agent.interfaces.cli.run_messages import RunEvent

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
        plan = Plan(self.plan.done, self.plan.now, self.plan.left)
        return (plan.in_one_line(self.language),)

    def _with_seconds(self, what: str, seconds: float) -> str:
        if seconds < PATIENCE:
            return what
        return text("live.waited", self.language, what=what, seconds=int(seconds))


def tool_label(tool: str, subject: str) -> str:
    """A tool with the subject of its call, such as `search_vault "roof"`."""
    line = " ".join(subject.split())
    return f'{tool} "{clipped(line, _LONGEST)}"' if line else tool


_WIDTH = 100


class View(Protocol):
    """Draws what a screen shows; `start` and `stop` enclose the time in which its status is drawn."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def show_text(self, piece: str) -> None: ...

    def end_text(self) -> None: ...

    def remark(self, line: str) -> None: ...


@dataclass(slots=True)
class PlainView:
    """Text as it arrives, without any status: for a terminal on which the cursor cannot be moved."""

    _stream: EscapedStream = field(default_factory=EscapedStream)
    _open: bool = False

    def start(self) -> None:
        """Do nothing: there is no status."""

    def stop(self) -> None:
        """End the current line."""
        self.end_text()

    def show_text(self, piece: str) -> None:
        """Show the next piece of the model's text."""
        self._open = not piece.endswith("\n")
        self._stream.show(piece)

    def end_text(self) -> None:
        """End the model's current line."""
        if self._open:
            self._stream.end()
            show("")
        self._open = False

    def remark(self, line: str) -> None:
        """Show a remark of the program on a line of its own."""
        self.end_text()
        show([Styled(escape_line(line), dim=True)])


@dataclass(slots=True)
class Screen:
    """Shows a run live. Without `live` (a pipe, or `--json`) nothing is shown."""

    live: bool
    language: Language = "en"
    model: str = ""
    """The name of the model that is asked; empty for none."""
    clock: Clock = field(default_factory=SystemClock)
    printed: str = ""
    """The text of the current step so far."""
    typed: str = ""
    """The line that the person is typing."""
    activity: ActivityLine = field(init=False)
    tell: Callable[[str, str], object] | None = None
    """Told in which session, and in a line, what happens, for a program that waits; None: nobody waits so."""
    _view: View | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.activity = ActivityLine(self.clock, self.language)

    def watch(self, bus: Bus) -> None:
        """Subscribe to the steps, tools and pauses of the runs on this bus."""
        if self.live or self.tell is not None:
            bus.subscribe(self.on_event, ToolCompleted, ToolCallFailed, PlanChanged, name="screen", priority=-50)
            bus.subscribe(
                self.on_event, IterationStarted, ToolCallStarted, ModelRetry, name="screen status", priority=-50
            )

    @contextmanager
    def running(self, stopping: Cancelled = never, what: str = "live.reading") -> Iterator[None]:
        """Show what happens until the end of the block; at first the sentence of the key `what`."""
        if not self.live:
            yield
            return
        self.activity.stopping, self.activity.plan = stopping, None  # a plan is of one run
        self.activity.wait_for(text(what, self.language))
        self._drawn().start()
        try:
            yield
        finally:
            self._drawn().stop()
            self.activity.stopping = never

    def show_text(self, piece: str) -> None:
        """Show the next piece of the model's text."""
        if self.live and piece:
            with self._lock:
                self.printed += piece
                self.activity.wait_for(self._sentence("live.writing"))
                self._drawn().show_text(piece)

    def on_event(self, event: "RunEvent") -> None:
        """Show the beginning of a step, a pause of the model, or a tool."""
        match event:
            case IterationStarted():
                self.end_line()
                self.printed = ""
                self.activity.wait_for(self._sentence("live.thinking"))
            case ModelRetry():
                self.activity.retry(event)
            case PlanChanged():
                self.activity.plan = event
            case ToolCallStarted():
                self.activity.start_tool(event)
            case ToolCompleted(tool=tool, call=call):
                self.line(f"· {self.activity.end_tool(call, tool)}")
            case ToolCallFailed(tool=tool, call=call, error=error):
                self.line(f"· {self.activity.end_tool(call, tool)[:_WIDTH]}: {_first_words(error)[:_WIDTH]}")
        if self.tell is not None:
            session = "" if isinstance(event, ModelRetry) else event.session
            self.tell(session, "; ".join(self.activity.lines()))

    def show_typed(self, text: str) -> None:
        """Show the line that the person is typing; empty for none."""
        self.typed = text

    def show_sent(self, message: str) -> None:
        """Show a message of the person's, as at a prompt."""
        rows = [row for line in message.split("\n") for row in at_words(line, size()[0] - 2).split("\n")]
        for number, row in enumerate(rows):
            self.line(f"  {row}" if number else f"> {row}")

    def show_exchange(self, asked: str, answer: str) -> None:
        """Show a message and its answer from an earlier run."""
        self.show_sent(asked)
        with self._lock:
            if answer:
                self._drawn().show_text(answer)
        self.end_line()

    def line(self, text: str) -> None:
        """Show a remark of the program on a separate line."""
        if self.live:
            with self._lock:
                self._drawn().remark(text)

    def end_line(self) -> None:
        """End the model's text so far."""
        if self.live:
            with self._lock:
                self._drawn().end_text()

    def show_rest(self, answer: str) -> None:
        """Show the answer if it was not shown in pieces, as with a model that does not stream."""
        if self.live and answer.strip() and not self.printed.strip():
            self.show_text(answer)
        self.end_line()

    def _sentence(self, key: str) -> str:
        return text(key, self.language, model=self.model) if self.model else text("live.reading", self.language)

    def _status(self) -> Status:
        return Status(self.activity.lines(), self.typed)

    def _drawn(self) -> View:
        if self._view is None:
            if can_draw():
                module = import_module("agent.interfaces.cli.terminal.live")  # rich is slow to load
                self._view = cast(View, module.LiveView(self._status))
            else:
                self._view = PlainView()
        return self._view


def is_terminal() -> bool:
    """True if standard input and output are a terminal, so that a person can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _first_words(error: str) -> str:
    """The first line of a tool's error, and the one that it announces."""
    first, _, rest = error.strip().partition("\n")
    return f"{first} {rest.partition(chr(10))[0]}".rstrip() if first.endswith(":") else first
