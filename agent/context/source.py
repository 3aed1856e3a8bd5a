"""The Protocol of a source of text for the model: memories, preferences, skills. `app` passes the sources in."""

from collections.abc import Sequence
from typing import Protocol

from agent.dataclass import dataclass
from agent.events.receipt import Receipt as Receipt  # imported from here by sources


@dataclass(frozen=True, slots=True)
class Piece:
    """A text for the model. `source` is its kind, in a word or two.

    `untrusted` names the origin of a text by others than the vault's owner; the source has already framed it. `absent`
    is the reason, for people, why a source has no text; such a piece is never shown to the model.
    """

    text: str
    source: str
    score: float = 0.0
    receipt: Receipt | None = None
    untrusted: str = ""
    absent: str = ""


class Source(Protocol):
    """A source of texts for a task. `name` is its row in the budget table."""

    @property
    def name(self) -> str: ...

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The texts for a task, about `room` tokens: the rest is cut, the lowest score first."""
        ...
