"""The Protocol of a source of text for the model: memories, preferences, skills. `app` passes the sources in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.events.receipt import Receipt as Receipt  # whoever makes pieces has it from here


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that may be put before the model. `source` says in a word or two what it is.

    `untrusted` names where the text comes from when that is not the vault's owner; its source has framed it then.
    `absent` says for people why there is no text where there could be some; such a piece is never before the model.
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
        """The texts for a task, about `room` tokens of them: what does not fit is cut, the lowest score first."""
        ...
