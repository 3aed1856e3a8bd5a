"""A receipt: the note and lines that were added to the model's prompt, and the reason. Plain data, for use in hooks."""

from pathlib import PurePath

from agent.dataclass import dataclass
from agent.texts import Language, text

MEMORIES = "memories"
"""The source of texts that are lines of notes: a session's note has their receipts instead of their words."""


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

    def line(self, language: Language = "en") -> str:
        """The place, the score and the reason, in one line."""
        why = f", {self.why}" if self.why else ""
        return f"{self.place(language)} ({self.score:.2f}{why})"

    def place(self, language: Language = "en") -> str:
        """The lines with a link to their note, and the commit; a file of the program has no link, only its name."""
        pinned = text("receipt.at", language, commit=self.commit[:10]) if self.commit else ""
        link = self._file_of_program(language) or f"[[{self.path.removesuffix('.md')}]]"
        return f"{link} {self._span(language)}{pinned}"

    def named(self, language: Language = "en") -> str:
        """The note as code, which leads nowhere, and the lines."""
        return f"{self._file_of_program(language) or f'`{self.path}`'} {self._span(language)}"

    def _file_of_program(self, language: Language) -> str:
        """What a file of the program is called; empty for a note."""
        path = PurePath(self.path)
        return text("receipt.program", language, name=path.parent.name) if path.is_absolute() else ""

    def _span(self, language: Language) -> str:
        first, last = self.lines
        return text("receipt.line" if first == last else "receipt.lines", language, first=first, last=last)
