"""A receipt: which lines of which note were put before the model, and why. Plain data, so that hooks can give one."""

from dataclasses import dataclass
from pathlib import PurePath

_SAID = {
    "en": {"one": "line {0}", "many": "lines {0}–{1}", "at": " at `{0}`", "program": "`{0}` of the program"},
    "zh": {"one": "第 {0} 行", "many": "第 {0}–{1} 行", "at": "，提交 `{0}`", "program": "程序自带的 `{0}`"},
}


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

    def line(self, language: str = "en") -> str:
        """The receipt in one line, with a link to the note; a file of the program is in no vault, so it is named."""
        said, (first, last) = _SAID[language], self.lines
        where = said["one" if first == last else "many"].format(first, last)
        pinned = said["at"].format(self.commit[:10]) if self.commit else ""
        why = f", {self.why}" if self.why else ""
        path = PurePath(self.path)
        own = path.is_absolute()
        link = said["program"].format(path.parent.name) if own else f"[[{self.path.removesuffix('.md')}]]"
        return f"{link} {where}{pinned} ({self.score:.2f}{why})"
