"""The Protocol of a source of text for the model: memories, preferences, skills. `app` passes the sources in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.events.receipt import Receipt as Receipt  # whoever makes pieces has it from here


@dataclass(frozen=True, slots=True)
class Piece:
    """A text for the model. `source` is its kind, in a word or two.

    `untrusted` names the origin of a text that is not the vault's owner's; its source has framed it then. `absent`
    tells people why a source has no text; such a piece is never shown to the model.
    """

    text: str
    source: str
    score: float = 0.0
    receipt: Receipt | None = None
    untrusted: str = ""
    absent: str = ""


class Source(Protocol):
    """Something that knows texts which belong to a task. `name` is its row in the budget table."""

    @property
    def name(self) -> str: ...

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The texts for a task, about `room` tokens of them: the rest is cut, the lowest score first."""
        ...
