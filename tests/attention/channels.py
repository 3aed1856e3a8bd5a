"""A channel that does what it is told, and remembers what it was given."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.attention.channels.channel import Message
from agent.llm.messages import Cancelled


@dataclass
class FakeChannel:
    """`answers` are what its next calls raise (an exception) or return; afterwards each call succeeds."""

    name: str = "fake"
    answers: list[Exception | str] = field(default_factory=list)
    shown: list[Message] = field(default_factory=list)
    tried: int = 0
    on_send: Callable[[Message], object] = lambda message: None

    def send(self, message: Message, cancelled: Cancelled) -> str:
        self.tried += 1
        answer = self.answers.pop(0) if self.answers else f"proof {self.tried}"
        if isinstance(answer, Exception):
            raise answer
        self.shown.append(message)
        self.on_send(message)
        return answer
