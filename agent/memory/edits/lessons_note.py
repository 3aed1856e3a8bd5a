"""The section of `profile/31-preferences.md` that says what was learned from edits: one line for each lesson, with how
often it was seen. The lines are the whole state.

A line counts as the program's while it is exactly as the program wrote it. A line that the person has changed or taken
out is theirs: that lesson is never written again.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import PurePosixPath

from agent import texts
from agent.memory import daily
from agent.memory.edits.lesson import Lesson
from agent.memory.profile.block_change import BlockChange
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.profile_file import KEEP
from agent.texts import LANGUAGES, Language, text
from agent.vault.folders import PROFILE, AgentFolder

NOTE = f"{PROFILE}31-preferences.md"
MOST = 40
"""The most lines of the section; what is new then waits until one goes."""
SURE = 0.6
"""The confidence from which a lesson is told to a model."""
_QUOTED = 60
"""The most characters of a quotation."""
_MARK = "\0"
_STYLES = (
    *("length_shorter", "length_longer", "list_items", "list_prose", "headings_more", "headings_fewer"),
    *("emoji_with", "emoji_without", "language_en", "language_zh"),
    *("dates_iso", "dates_numbers", "dates_words", "dates_chinese"),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A lesson with the edit that it comes from: the note and the day."""

    lesson: Lesson
    path: str
    day: date


@dataclass(frozen=True, slots=True)
class LessonLine:
    """A line of the section: its lesson (without evidence), how often it was seen more than its opposite, and the line
    as it stands in the note."""

    lesson: Lesson
    count: int
    row: str

    @property
    def confidence(self) -> float:
        """From .5 for a lesson seen once towards 1: the share of those who have done so who will do so again, by the
        rule of succession with one doubt."""
        return self.count / (self.count + 1)


def parse_lines(rows: Iterable[str]) -> tuple[LessonLine, ...]:
    """The lines that have the form of a lesson, in order."""
    found = ((row, _parse(row)) for row in rows)
    return tuple(LessonLine(parsed[0], parsed[1], row) for row, parsed in found if parsed is not None)


def is_sure(row: str) -> bool:
    """False for a line of a lesson that was seen too seldom to be told to a model."""
    return all(each.confidence > SURE for each in parse_lines([row]))


def section_of(note: str) -> tuple[str, ...]:
    """The lines of the section, without its heading; nothing without the section."""
    rows = note.splitlines()
    found = _section(rows)
    return tuple(rows[found[0] + 1 : found[1]]) if found else ()


def lesson_changes(
    note: str, seen: Sequence[Seen], own: frozenset[str], refused: frozenset[tuple[str, str, str]], place: "LessonPlace"
) -> Iterator[BlockChange]:
    """What changes in the note by what was seen: known lessons are counted, opposite ones counted down, and new ones
    added.

    `own` are the lines that the program wrote last, `refused` the lessons (`identity`) that the person has changed or
    taken out.
    """
    there = section_of(note)
    known = {each.lesson.key: each for each in parse_lines(row for row in there if row in own)}
    after = _counted(known, seen, refused, place)
    evidence = {_as_written(each.lesson).key: (Evidence(_stem(each.path), day=each.day.isoformat()),) for each in seen}
    heading = text("edit_lesson.title", place.language)
    heading = next((title for title in texts.in_all_languages("edit_lesson.title") if f"## {title}" in note), heading)
    left = MOST - sum(1 for row in there if row.startswith("- "))
    for key in dict.fromkeys((*known, *after)):
        before, now = known.get(key), after.get(key)
        if before == now:
            continue
        left += (now is None) - (before is None)
        if before is None and left < 0:
            continue
        old, new = ((each.row,) if each is not None else () for each in (before, now))
        lesson = (now or known[key]).lesson
        says = text(f"edit_lesson.{_name(lesson)}", place.language, **_words(lesson))
        yield BlockChange(NOTE.removeprefix(PROFILE), says, heading, evidence.get(key, ()), old, new)


@dataclass(frozen=True, slots=True)
class LessonPlace:
    """Where the note is, for links: the agent's folder and the language of the vault."""

    home: AgentFolder
    language: Language


def identity(lesson: Lesson) -> tuple[str, str, str]:
    """What makes two lessons the same one."""
    return (*lesson.key, lesson.value.casefold())


def _counted(
    known: Mapping[tuple[str, str], LessonLine],
    seen: Sequence[Seen],
    refused: frozenset[tuple[str, str, str]],
    place: LessonPlace,
) -> dict[tuple[str, str], LessonLine]:
    lines = dict(known)
    for each in (replace(one, lesson=_as_written(one.lesson)) for one in seen):
        key, line = each.lesson.key, lines.get(each.lesson.key)
        if line is None:
            if identity(each.lesson) not in refused:
                lines[key] = LessonLine(each.lesson, 1, _row(each.lesson, 1, each, place))
        elif line.lesson.value.casefold() == each.lesson.value.casefold():
            count = line.count + 1
            lines[key] = LessonLine(line.lesson, count, _row(line.lesson, count, each, place))
        elif line.count > 1:
            lines[key] = _counted_down(line)
        else:
            del lines[key]
    return lines


def _counted_down(line: LessonLine) -> LessonLine:
    """The line with one time less; its evidence stays."""
    found = ((each, _line_pattern(each).fullmatch(line.row)) for each in LANGUAGES)
    language, match = next((each, match) for each, match in found if match)
    begin, end = match.span("times")
    count = line.count - 1
    return replace(line, count=count, row=line.row[:begin] + _times(count, language) + line.row[end:])


def _row(lesson: Lesson, count: int, seen: Seen, place: LessonPlace) -> str:
    language = place.language
    day = f"[[{place.home.at(daily.path_of(seen.day)).removesuffix('.md')}]]"
    note = f"[[{_stem(seen.path)}]]"
    said = text(f"edit_lesson.{_name(lesson)}", language, **_words(lesson))
    before, after = (quoted(each) for each in (seen.lesson.before, seen.lesson.after))
    change = " ".join(["", *filter(None, [before, "→" if before and after else "", after])])
    times = _times(count, language)
    return text("edit_lesson.line", language, lesson=said, times=times, day=day, note=note, change=change)


def _times(count: int, language: Language) -> str:
    return text("edit_lesson.times", language, count=count) if count > 1 else text("edit_lesson.once", language)


def quoted(words: str) -> str:
    """A text as a short quotation on one line that an editor neither loads nor links; empty for none."""
    plain = daily.inert(" ".join(words.split())).replace("[[", "[ [").replace("]]", "] ]")
    return f"“{daily.cut(plain, _QUOTED)}”" if plain else ""


def _name(lesson: Lesson) -> str:
    if lesson.kind == "style":
        return f"{lesson.topic}_{lesson.value}"
    return "corrects" if lesson.kind == "correction" else lesson.value


def _words(lesson: Lesson) -> dict[str, str]:
    if lesson.kind == "correction":
        return {"old": lesson.topic, "new": lesson.value}
    return {"what": lesson.topic} if lesson.kind == "preference" else {}


def _as_written(lesson: Lesson) -> Lesson:
    """The lesson with its words as they are in a line, so that it is known again there."""
    return replace(lesson, topic=_plain(lesson.topic), value=_plain(lesson.value))


def _plain(words: str) -> str:
    return daily.inert(" ".join(words.split())).replace("[[", "[ [").replace("]]", "] ]").replace("”", "'")


def _parse(row: str) -> tuple[Lesson, int] | None:
    for language in LANGUAGES:
        if match := _line_pattern(language).fullmatch(row):
            count = int(match["count"]) if match["count"] else 1
            lesson = _lesson(match["lesson"], language)
            return (lesson, count) if lesson is not None and count > 0 else None
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
    count = f"(?P<times>{re.escape(text('edit_lesson.once', language))}|{times})"
    link = r"\[\[[^\]\n]+\]\]"
    groups = ("(?P<lesson>.+?)", count, link, link, ".*", "")
    return re.compile("".join(a + b for a, b in zip(map(re.escape, pieces), groups, strict=True)))


@cache
def _pattern(key: str, language: Language) -> re.Pattern[str]:
    names = ("old", "new") if key == "edit_lesson.corrects" else ("what",)
    parts = {name: f"{_MARK}{name}{_MARK}" for name in names}
    pieces = text(key, language, **parts).split(_MARK)
    return re.compile("".join(f"(?P<{each}>.+)" if each in names else re.escape(each) for each in pieces))


def _section(rows: Sequence[str]) -> tuple[int, int] | None:
    """The rows of the section: that of its heading, and the one after its last; None without one."""
    titles = {f"## {title}" for title in texts.in_all_languages("edit_lesson.title")}
    start = next((at for at, row in enumerate(rows) if KEEP.sub("", row).strip() in titles), None)
    if start is None:
        return None
    after = (at for at in range(start + 1, len(rows)) if re.match(r"#{1,2}\s", rows[at]))
    end = next(after, len(rows))
    while end > start + 1 and not rows[end - 1].strip():
        end -= 1
    return start, end


def _stem(path: str) -> str:
    return PurePosixPath(path).with_suffix("").as_posix()
