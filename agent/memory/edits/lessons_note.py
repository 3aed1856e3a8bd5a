"""The lines in which earlier versions counted what was learned from edits, in a section of the person's preferences.

They are read, so that what was counted goes on to count; nothing writes them any more (`growth.beliefs`).
"""

import re
from collections.abc import Iterable
from datetime import date
from functools import cache

from agent import texts
from agent.dataclass import dataclass
from agent.memory.edits.lesson import Lesson
from agent.memory.profile.profile_file import KEEP
from agent.texts import LANGUAGES, Language, text

_MARK = "\0"
_STYLES = (
    *("length_shorter", "length_longer", "list_items", "list_prose", "headings_more", "headings_fewer"),
    *("emoji_with", "emoji_without", "language_en", "language_zh"),
    *("dates_iso", "dates_numbers", "dates_words", "dates_chinese"),
)
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)\]\]")


@dataclass(frozen=True, slots=True)
class LessonLine:
    """A line of the section: its lesson (without evidence), how often it was seen more than its opposite, the day and
    the note (without `.md`) of the last time, and the line as it stands there."""

    lesson: Lesson
    count: int
    day: date
    note: str
    row: str


def parse_lines(rows: Iterable[str]) -> tuple[LessonLine, ...]:
    """The lines that have the form of a lesson, in order."""
    found = (_parse(row) for row in rows)
    return tuple(each for each in found if each is not None)


def section_of(note: str) -> tuple[str, ...]:
    """The lines of the section, without its heading; nothing without the section."""
    rows = note.splitlines()
    titles = {f"## {title}" for title in texts.in_all_languages("edit_lesson.title")}
    start = next((at for at, row in enumerate(rows) if KEEP.sub("", row).strip() in titles), None)
    if start is None:
        return ()
    end = next((at for at in range(start + 1, len(rows)) if re.match(r"#{1,2}\s", rows[at])), len(rows))
    return tuple(rows[start + 1 : end])


def heading_of(note: str) -> str:
    """The heading of the section, without its marks, as the note has it; empty without the section."""
    return next((title for title in texts.in_all_languages("edit_lesson.title") if f"## {title}" in note), "")


def _parse(row: str) -> LessonLine | None:
    for language in LANGUAGES:
        match = _line_pattern(language).fullmatch(row)
        lesson = _lesson(match["lesson"], language) if match else None
        day = _DAY.search(match["day"]) if match else None
        if match and lesson is not None and day is not None:
            count = int(match["count"]) if match["count"] else 1
            return LessonLine(lesson, count, date.fromisoformat(day[1]), match["note"].strip("[]"), row)
    return None


def _lesson(said: str, language: Language) -> Lesson | None:
    for name in _STYLES:
        if said == text(f"edit_lesson.{name}", language):
            topic, _, value = name.partition("_")
            return Lesson("style", topic, value)
    if match := _pattern("edit_lesson.corrects", language).fullmatch(said):
        return Lesson("correction", match["old"], match["new"])
    for value in ("without", "with"):
        if match := _pattern(f"edit_lesson.{value}", language).fullmatch(said):
            return Lesson("preference", match["what"], value)
    return None


@cache
def _line_pattern(language: Language) -> re.Pattern[str]:
    line = text("edit_lesson.line", language, lesson=_MARK, times=_MARK, day=_MARK, note=_MARK, change=_MARK)
    pieces = line.split(_MARK)
    times = re.escape(text("edit_lesson.times", language, count=_MARK)).replace(re.escape(_MARK), r"(?P<count>\d+)")
    count = f"(?:{re.escape(text('edit_lesson.once', language))}|{times})"
    link = r"\[\[[^\]\n]+\]\]"
    groups = ("(?P<lesson>.+?)", count, f"(?P<day>{link})", f"(?P<note>{link})", ".*", "")
    return re.compile("".join(a + b for a, b in zip(map(re.escape, pieces), groups, strict=True)))


@cache
def _pattern(key: str, language: Language) -> re.Pattern[str]:
    names = ("old", "new") if key == "edit_lesson.corrects" else ("what",)
    parts = {name: f"{_MARK}{name}{_MARK}" for name in names}
    pieces = text(key, language, **parts).split(_MARK)
    return re.compile("".join(f"(?P<{each}>.+)" if each in names else re.escape(each) for each in pieces))
