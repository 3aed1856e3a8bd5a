"""What a person sees of a run while it goes on: the model's words as they come, and which tools it uses.

Only on a terminal: into a pipe goes the answer alone, once it is whole. What is said afterwards is the commands'.
"""

import sys
import threading
from dataclasses import dataclass, field

from agent.escape import escape_line
from agent.events.bus import Bus
from agent.events.runs import IterationStarted, ToolCompleted, ToolFailed
from agent.interfaces.cli.printing import Stream, Styled, show

_WIDTH = 100


@dataclass(slots=True)
class Screen:
    """Where words go. `live` is false where nobody watches; then all of it does nothing."""

    live: bool
    shown: str = ""
    """What the last step has said so far."""
    _stream: Stream = field(default_factory=Stream)
    _open: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watch(self, bus: Bus) -> None:
        """Hear from a bus of steps and tools."""
        if self.live:
            bus.subscribe(self.hear, IterationStarted, ToolCompleted, ToolFailed, name="screen", priority=-50)

    def text(self, piece: str) -> None:
        """A piece of what the model says."""
        if self.live and piece:
            with self._lock:
                self.shown += piece
                self._open = not piece.endswith("\n")
                self._stream.show(piece)

    def hear(self, event: IterationStarted | ToolCompleted | ToolFailed) -> None:
        """A step begins, or a tool was used."""
        match event:
            case IterationStarted():
                self.end_line()
                self.shown = ""
            case ToolCompleted(tool=tool):
                self.line(f"· {tool}")
            case ToolFailed(tool=tool, error=error):
                first = error.strip().partition("\n")[0]
                self.line(f"· {tool[:_WIDTH]}: {first[:_WIDTH]}")

    def line(self, text: str) -> None:
        """A remark of ours on a line of its own."""
        if self.live:
            self.end_line()
            show([Styled(escape_line(text), dim=True)])

    def end_line(self) -> None:
        """End the line that the model has begun."""
        with self._lock:
            if self.live and self._open:
                self._stream.end()
                show("")
            self._open = False

    def whole(self, answer: str) -> None:
        """See to it that the answer has been shown to its end, which a model that does not stream leaves to us."""
        if self.live and answer.strip() and not self.shown.strip():
            self.text(answer)
        self.end_line()


def is_terminal() -> bool:
    """Whether a person sits there who sees what is written and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()
