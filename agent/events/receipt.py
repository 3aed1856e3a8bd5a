"""A receipt: the note and lines that were added to the model's prompt, and the reason. Plain data, for use in hooks."""

from pathlib import PurePath

from agent.dataclass import dataclass

MEMORIES = "memories"
"""The source of texts that are lines of notes: a session's note has their receipts instead of their words."""
_SAID = {
    "en": {"one": "line {0}", "many": "lines {0}–{1}", "at": " at `{0}`", "program": "`{0}` of the program"},
    "zh": {"one": "第 {0} 行", "many": "第 {0}–{1} 行", "at": "，提交 `{0}`", "program": "程序自带的 `{0}`"},
}


@dataclass(frozen=True, slots=True)
class Receipt:
    """Lines of a note (inclusive, from 1) in the model's prompt, pinned to a commit if the note has one.

    `score` is the relevance to the task by the source's own measure; `why` is the reason in words.
    """

    path: str
    lines: tuple[int, int]
    commit: str | None
    score: float
    why: str

    def line(self, language: str = "en") -> str:
        """The place, the score and the reason, in one line."""
        why = f", {self.why}" if self.why else ""
        return f"{self.place(language)} ({self.score:.2f}{why})"

    def place(self, language: str = "en") -> str:
        """The lines with a link to their note, and the commit; a file of the program has no link, only its name."""
        said, path = _SAID[language], PurePath(self.path)
        pinned = said["at"].format(self.commit[:10]) if self.commit else ""
        own = path.is_absolute()
        link = said["program"].format(path.parent.name) if own else f"[[{self.path.removesuffix('.md')}]]"
        return f"{link} {self._span(language)}{pinned}"

    def named(self, language: str = "en") -> str:
        """The note as code, which leads nowhere, and the lines."""
        path = PurePath(self.path)
        name = _SAID[language]["program"].format(path.parent.name) if path.is_absolute() else f"`{self.path}`"
        return f"{name} {self._span(language)}"

    def _span(self, language: str) -> str:
        first, last = self.lines
        return _SAID[language]["one" if first == last else "many"].format(first, last)
