"""Lessons as an edit would give them."""

from datetime import date

from agent.memory.edits.lesson import Lesson, LessonKind
from agent.memory.edits.lessons_note import Seen

SUNDAY = date(2026, 11, 22)


def seen(kind: LessonKind, topic: str, value: str, before: str = "", after: str = "") -> Seen:
    """A lesson that was seen on Sunday in the note `plan`."""
    return Seen(Lesson(kind, topic, value, before, after), "plan.md", SUNDAY)
