"""The lessons in the person's edits since a commit, each with where and when it was seen; writes nothing.

An edit with a secret, or with text by others, teaches nothing. What is made of the lessons is left to `growth.beliefs`.
"""

from collections.abc import Callable
from datetime import date, datetime

from agent.dataclass import dataclass
from agent.memory.edits.lesson import Lesson, lessons_in
from agent.memory.edits.person_edits import person_edits
from agent.memory.forgetting.tombstones import load_tombstones
from agent.vault.store import Vault

_MOST = 12
"""The most lessons of one edit: who rewrites a whole note does not teach a hundred things."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A lesson with the edit that it comes from: the note, the day, and the commit with which the edit was over."""

    lesson: Lesson
    path: str
    day: date
    commit: str = ""


def lessons_since(
    vault: Vault, now: datetime, last: str, is_foreign: Callable[[str, bytes], bool]
) -> tuple[tuple[Seen, ...], str]:
    """The lessons of the edits since the commit `last` (empty: of the last weeks), and the commit up to which was
    looked."""
    edits, up_to = person_edits(vault, now, last, is_foreign)
    found = [
        Seen(lesson, edit.path, edit.day, edit.commit)
        for edit in edits
        for lesson in lessons_in(edit.before, edit.after)[:_MOST]
    ]
    return tuple(_without_secrets(vault, found) if found else ()), up_to


def _without_secrets(vault: Vault, found: list[Seen]) -> list[Seen]:
    """What was seen, but what would quote a secret, or something that the person wanted to be forgotten."""
    stones = load_tombstones(vault)

    def may_be_quoted(lesson: Lesson) -> bool:
        texts = (lesson.before, lesson.after, lesson.topic, lesson.value)
        return all(vault.masked(each) == each and not stones.is_forgotten(each) for each in texts)

    return [each for each in found if may_be_quoted(each.lesson)]
