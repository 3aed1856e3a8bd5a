"""The live view of a run on a terminal: the model's text as it arrives, and the tools that it uses.

A pipe gets only the finished answer. The lines below an answer are left to the commands.
"""

import sys
import threading
from dataclasses import dataclass, field

from agent.escape import escape_line
from agent.events.bus import Bus
from agent.events.runs import IterationStarted, ToolCallFailed, ToolCompleted
from agent.interfaces.cli.printing import Stream, Styled, show

_WIDTH = 100


@dataclass(slots=True)
class Screen:
    """Shows a run live. Without `live` (a pipe, or `--json`) all methods do nothing."""

    live: bool
    shown: str = ""
    """The text of the current step so far."""
    _stream: Stream = field(default_factory=Stream)
    _open: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watch(self, bus: Bus) -> None:
        """Subscribe to the steps and tools of the runs on this bus."""
        if self.live:
            bus.subscribe(self.on_event, IterationStarted, ToolCompleted, ToolCallFailed, name="screen", priority=-50)

    def show_text(self, piece: str) -> None:
        """Show the next piece of the model's text."""
        if self.live and piece:
            with self._lock:
                self.shown += piece
                self._open = not piece.endswith("\n")
                self._stream.show(piece)

    def on_event(self, event: IterationStarted | ToolCompleted | ToolCallFailed) -> None:
        """Begin a new step, or show the tool that was used."""
        match event:
            case IterationStarted():
                self.end_line()
                self.shown = ""
            case ToolCompleted(tool=tool):
                self.line(f"· {tool}")
            case ToolCallFailed(tool=tool, error=error):
                first = error.strip().partition("\n")[0]
                self.line(f"· {tool[:_WIDTH]}: {first[:_WIDTH]}")

    def line(self, text: str) -> None:
        """Show a remark of the program on a separate line."""
        if self.live:
            self.end_line()
            show([Styled(escape_line(text), dim=True)])

    def end_line(self) -> None:
        """End the model's current line."""
        with self._lock:
            if self.live and self._open:
                self._stream.end()
                show("")
            self._open = False

    def show_rest(self, answer: str) -> None:
        """Show the answer if it was not shown in pieces, as with a model that does not stream."""
        if self.live and answer.strip() and not self.shown.strip():
            self.show_text(answer)
        self.end_line()


def is_terminal() -> bool:
    """True if standard input and output are a terminal, so that a person can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()
