"""The notes in `questions/` as they count as the person's: which ask, what was answered, and what was ever asked.

What the person has thrown away was asked all the same: the history of the vault knows it.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from agent.asking.questions.form import boxes_in, closed_note, parse_answer
from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.vault.change import Edit
from agent.vault.folders import ARCHIVE, QUESTIONS
from agent.vault.store import Vault

ANSWERED_AT = "answered"
"""The key of a question's header with the time at which its answer was taken."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A note that asks or has asked."""

    path: str
    note: Note
    is_put_away: bool = False

    @property
    def is_open(self) -> bool:
        """True while it waits for an answer, or for what follows from one."""
        return not self.is_put_away and self.note.string("status") == "open"

    @property
    def run(self) -> str:
        """The run that waits, or has waited, for the answer; empty for a question that nothing waits for."""
        return self.note.string("run") or ""

    @property
    def is_unprompted(self) -> bool:
        """True for a question that nothing waits for: no run, and no sync."""
        return not self.run and "expires" in self.note.header

    @property
    def title(self) -> str:
        """The question in one line."""
        first = self.note.body.strip().partition("\n")[0]
        return first.removeprefix("# ").strip() or self.note.title(self.path)

    @property
    def answer(self) -> str:
        """What the person has answered; empty without an answer."""
        return parse_answer(self.note.data)

    @property
    def options(self) -> tuple[str, ...]:
        """What there is to choose from, as it is worded now."""
        return tuple(each.text for each in boxes_in(self.note.body))

    @property
    def ticked(self) -> tuple[int, ...]:
        """The numbers of the options that are ticked, from 0."""
        return tuple(at for at, each in enumerate(boxes_in(self.note.body)) if each.done)

    @property
    def fallback(self) -> str:
        """What is done without an answer."""
        return self.note.string("fallback") or ""

    def moment(self, key: str) -> datetime | None:
        """A moment of the header; None if there is none."""
        found = self.note.header.get(key)
        return found.astimezone() if isinstance(found, datetime) else None

    def is_over(self, now: datetime) -> bool:
        """True if it has waited as long as it said."""
        until = self.moment("expires")
        return until is not None and now >= until


def asked_questions(vault: Vault, containing: bytes = b"") -> Iterator[AskedQuestion]:
    """The notes that ask or have asked, also those that were put away; with `containing`, only those that have it."""
    for folder in (QUESTIONS, ARCHIVE + QUESTIONS):
        place = Path(vault.place.root, vault.home.at(folder))
        for file in sorted(place.glob("*.md")) if place.is_dir() else ():
            path = file.relative_to(vault.place.root).as_posix()
            data = vault.own_version(path)
            if data is None or containing not in data:
                continue
            note = Note.parse(data)
            if note.type == "question":
                yield AskedQuestion(path, note, folder != QUESTIONS)


def close_question(vault: Vault, asked: AskedQuestion, status: str, result: str, **more: Value) -> Edit | None:
    """The request that closes a question with what became of it, and with `more` keys of its header; None while the
    note is not as it counts, or cannot be changed."""
    data = vault.read(asked.path)
    if data is None or data != asked.note.data or asked.note.problem is not None:
        return None
    try:
        note = closed_note(asked.note, status, result)
        for key, value in more.items():
            note = note.with_key(key, value)
    except BadNote:
        return None
    return Edit(asked.path, data, note.data)
