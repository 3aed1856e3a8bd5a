"""One conversation in an editor."""

from collections.abc import Callable
from dataclasses import field
from threading import Event
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.interfaces.acp import messages
from agent.interfaces.acp.messages import Update

Mode: TypeAlias = Literal["write", "ask"]
"""`ask`: what is asked for in this mode changes no note but its own conversation's."""


@dataclass(slots=True)
class OpenTalk:
    """One conversation in an editor. `path` is its session's note, empty before the first task; `question` the note in
    which the run has asked something, to which the next message is the answer; `show` sends an update to the editor."""

    id: str
    show: Callable[[Update], None]
    path: str = ""
    mode: Mode = "write"
    question: str = ""
    stop: Event = field(default_factory=Event)
    calls: set[str] = field(default_factory=set)
    """The tool calls that were shown."""
    is_shown: bool = False
    """True once text of the present step of the run was shown."""

    def show_text(self, piece: str) -> None:
        """Show the next piece of the model's text."""
        if piece:
            self.is_shown = True
            self.show(messages.agent_text(piece))
