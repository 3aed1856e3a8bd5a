"""Where text for the model comes from: memories, preferences, skills. `app` passes the sources in, so that this floor
knows none of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was put before the model and why: lines of a note (inclusive, from 1), pinned to a commit where it has one.

    `score` is the source's own measure of how well it fits the task; `why` says in words what made it fit.
    """

    path: str
    lines: tuple[int, int]
    commit: str | None
    score: float
    why: str

    @property
    def line(self) -> str:
        """The receipt in one line, with a link to the note."""
        first, last = self.lines
        where = f"line {first}" if first == last else f"lines {first}–{last}"
        pinned = f" at `{self.commit[:10]}`" if self.commit else ""
        why = f", {self.why}" if self.why else ""
        return f"[[{self.path.removesuffix('.md')}]] {where}{pinned} ({self.score:.2f}{why})"


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that may be put before the model. `source` says in a word or two what it is.

    `untrusted` names where the text comes from when that is not the vault's owner; its source has framed it then.
    """

    text: str
    source: str
    score: float = 0.0
    receipt: Receipt | None = None
    untrusted: str = ""


class Source(Protocol):
    """Something that knows texts which belong to a task. `name` is its row in the budget table."""

    @property
    def name(self) -> str: ...

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The texts for a task, about `room` tokens of them: what does not fit is cut, the lowest score first."""
        ...
