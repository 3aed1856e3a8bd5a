"""`lessons.md`: one row of a list for each lesson, with its state. A person writes, changes, strikes out or deletes one
by hand; each paragraph, heading and checkbox in the note is theirs, and no lesson.

    - *a note is changed:* Read the note before you change it · on probation ^l-3f2a91c0
    - ~~Be brief~~ · set aside ^l-0a1b2c3d
    - Never write into the archive

A row without a mark at its end is the person's, and active. What became of each lesson and what it rests on stands in
the log, so that a row changes rarely and two machines do not meet in it. While the header of the note is broken
or does not say `type: lessons`, it is some other note: no row of it is followed and nothing is written."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import get_args

from agent.dataclass import dataclass
from agent.growth.lessons.lesson import IN_FORCE, Lesson, LessonState, case_words, words_mark
from agent.markdown.blocks import parse_body
from agent.markdown.inertness.active import inert_line
from agent.markdown.note import Note
from agent.markdown.title import clipped
from agent.texts import Language, in_all_languages, text
from agent.vault.folders import LESSONS_NOTE
from agent.vault.store import Vault

TYPE = "lessons"
LONGEST = 600
"""The most characters of a lesson: of a longer one runs get the beginning."""
_ROW = re.compile(r"[-*+] (?!\[.\] )(?P<words>\S.*?)(?:[ \t]+\^l-(?P<id>[0-9a-f]{8})(?:~~)?)?[ \t]*")
_STATE = re.compile(r"(?P<words>.+) · (?P<state>[^·]+?)\s*")
_CASE = re.compile(r"\*(?P<when>[^*]+?)[:：]\*[ \t]*(?P<text>\S.*)")
_MARKS = re.compile(r"\^l-[0-9a-f]{8}\s*$|^(?:[*~\s]|`{3,}|\d+[.)]\s+(?=`{3})|\[.\](?:\s|$))+")


@dataclass(frozen=True, slots=True)
class LessonRows:
    """The lessons of a note; `is_damaged`: its header is broken or has another type, so that none counts."""

    lessons: tuple[Lesson, ...] = ()
    is_damaged: bool = False


def parse_lessons(path: str, data: bytes) -> LessonRows:
    """The lessons in the note. A row that was copied with its mark and changed is the person's own; of two rows with
    the same words the one without a mark counts, else the one that is set aside."""
    note = Note.parse(data)
    if note.problem is not None or note.type != TYPE:
        return LessonRows(is_damaged=True)
    body, found = parse_body(note.body), dict[str, Lesson]()
    for number, (row, kind) in enumerate(zip(body.lines, body.kinds, strict=True)):
        match = _ROW.fullmatch(row) if kind not in ("fence", "code", "comment") else None
        if match is not None and (lesson := _lesson(match, path, row, note.body_line + number)) is not None:
            known = found.get(lesson.key)
            if known is not None and lesson.words != known.words:
                lesson = replace(lesson, id="")
                known = found.get(lesson.key)
            if known is None or _counts_before(lesson, known):
                found[lesson.key] = lesson
    return LessonRows(tuple(found.values()))


def load_lessons(vault: Vault) -> tuple[Lesson, ...]:
    """The lessons of a vault as far as they are the person's and the program's own: text that arrived, and that the
    person has not looked at yet, does not count."""
    return load_rows(vault).lessons


def load_rows(vault: Vault) -> LessonRows:
    """The rows of the note that count."""
    path = vault.home.at(LESSONS_NOTE)
    data = vault.own_version(path)
    return parse_lessons(path, data) if data is not None else LessonRows()


def load_in_force(vault: Vault) -> Iterator[Lesson]:
    """The lessons that runs are given; of the same words one."""
    found = (lesson for lesson in load_lessons(vault) if lesson.state in IN_FORCE)
    return iter({lesson.words: lesson for lesson in found}.values())


def new_lesson(path: str, words: str, when: str, state: LessonState = "probation") -> Lesson:
    """A lesson in the agent's words, made safe for a row of the note."""
    plain, case = (_safe(each).replace(" · ", " - ").strip() for each in (words, when))
    plain, case = clipped(plain, LONGEST), " ".join(case.replace("*", "").split()).rstrip(" .。:：,，")
    return Lesson(plain, case, state, words_mark(plain, case), path)


def _safe(words: str) -> str:
    """Words without what a row of the note has a meaning for."""
    return inert_line(_MARKS.sub("", inert_line(words).replace("~~", "")))


def format_row(lesson: Lesson, language: Language) -> str:
    """The row of a lesson. If it has a row, all of its words stay as they stand there, but for the state."""
    sentence = f"*{case_words(lesson.when)}* {lesson.text}" if lesson.when else lesson.text
    bullet, sentence = _bare(lesson.row) or ("- ", sentence)
    sentence = f"~~{sentence}~~" if lesson.state == "deprecated" else sentence
    return f"{bullet}{sentence} · {text(f'lessons.{lesson.state}', language)}{f' ^l-{lesson.id}' if lesson.id else ''}"


def note_head(language: Language) -> str:
    """The beginning of the note."""
    body = f"# {text('lessons.title', language)}\n\n{text('lessons.about', language)}\n\n"
    return Note.compose({"type": TYPE}, body).data.decode()


def _counts_before(lesson: Lesson, other: Lesson) -> bool:
    """True if the later one of two rows with the same words counts."""
    if bool(lesson.id) != bool(other.id):
        return not lesson.id
    return lesson.state == "deprecated" != other.state


def _bare(row: str) -> tuple[str, str] | None:
    """The bullet of a row, and what it says without its state and mark, and not struck out; None if it is no row."""
    match = _ROW.fullmatch(row)
    if match is None:
        return None
    sentence = match["words"]
    found = _STATE.fullmatch(sentence.removesuffix("~~"))
    if found is not None and (match["id"] or found["state"].strip().casefold() in _states()):
        sentence = found["words"].strip()
    if sentence.startswith("~~"):
        sentence = sentence[2:].removesuffix("~~")
        sentence = sentence.replace("~~", "") if sentence.count("~~") % 2 or sentence.startswith("~~") else sentence
    return row[: match.start("words")], sentence


def _lesson(match: re.Match[str], path: str, row: str, line: int) -> Lesson | None:
    sentence, id = match["words"], match["id"] or ""
    is_struck, sentence = sentence.startswith("~~"), sentence.replace("~~", "").strip()
    found = _STATE.fullmatch(sentence)
    named = _states().get(found["state"].strip().casefold()) if found else None
    state: LessonState = "deprecated" if is_struck or (id and found and named is None) else named or "active"
    sentence = found["words"].strip() if found and (named is not None or id) else sentence
    when, words = _case_and_words(sentence)
    return Lesson(words, when, state, id, path, row, line) if words else None


def _case_and_words(sentence: str) -> tuple[str, str]:
    """The case of a lesson (empty: any) and what to do then, each on one line."""
    case = _CASE.fullmatch(sentence)
    when, words = (case["when"], case["text"]) if case else ("", sentence)
    return " ".join(when.split()), clipped(" ".join(words.split()), LONGEST)


@cache
def _states() -> dict[str, LessonState]:
    return {word.casefold(): each for each in get_args(LessonState) for word in in_all_languages(f"lessons.{each}")}
