"""A receipt: which lines of which note were put before the model, and why. Plain data, so that hooks can give one."""

from dataclasses import dataclass
from pathlib import PurePath


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
        """The receipt in one line, with a link to the note; a file of the program is in no vault, so it is named."""
        first, last = self.lines
        where = f"line {first}" if first == last else f"lines {first}–{last}"
        pinned = f" at `{self.commit[:10]}`" if self.commit else ""
        why = f", {self.why}" if self.why else ""
        path = PurePath(self.path)
        link = f"`{path.parent.name}` of the program" if path.is_absolute() else f"[[{self.path.removesuffix('.md')}]]"
        return f"{link} {where}{pinned} ({self.score:.2f}{why})"
