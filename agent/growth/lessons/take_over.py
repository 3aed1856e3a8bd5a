"""Takes the rules of earlier versions over: notes in `rules/` become rows of `lessons.md`, and what the person refused
stays refused. The notes and their logs go to the archive as they are. All is one commit, which can be undone; nothing
is taken over twice."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agent.growth.lessons.lesson import Lesson, LessonState, words_mark
from agent.growth.lessons.lesson_log import load_log, parse_rows
from agent.growth.lessons.lesson_note import format_row, load_rows, new_lesson
from agent.growth.lessons.lesson_work import LessonChanges, LessonWork
from agent.markdown.blocks import parse_body
from agent.markdown.note import Note
from agent.vault.change import Move
from agent.vault.folders import RULES, is_hidden, is_template
from agent.vault.moving import archive_path

_LOG = f"{RULES}log.md"
_STATES: dict[str, LessonState] = {"": "active", "probation": "probation", "active": "active"}


def take_over_rules(work: LessonWork) -> None:
    """Take over the rules of an earlier version that are there; a note in which text has arrived that the person has
    not looked at waits, and so does one whose header is broken."""
    vault, changes = work.vault, LessonChanges()
    if not Path(vault.place.root, vault.home.at(RULES)).is_dir():
        return
    known, logged = {each.key for each in load_rows(vault).lessons}, load_log(vault).keys
    paths = list[str]()
    for path in _whole_notes(work):
        lesson = _lesson(work, path)
        if lesson is None or (lesson.key in logged and lesson.key not in known):
            continue  # no rule; or the person has taken its row out since, or has undone this
        if lesson.key not in known:
            known.add(lesson.key)
            changes.lines.append((None, format_row(lesson, work.language)))
        paths.append(path)
    if paths and (log := vault.own_version_of(_LOG)) is not None:
        refused = (row for row in parse_rows(log) if row.event in ("refused", "deleted"))
        changes.rows += [replace(row, target="") for row in refused]
        paths.append(vault.home.at(_LOG))
    changes.more += [Move(path, archive_path(vault, path)) for path in paths]
    changes.write(work, "lessons(take over): the rules of an earlier version")


def _whole_notes(work: LessonWork) -> Iterator[str]:
    """The notes in `rules/` as the person and the program left them, but for logs and templates."""
    home, place = work.vault.home, Path(work.vault.place.root, work.vault.home.at(RULES))
    for file in sorted(place.rglob("*.md")):
        path = home.at(RULES) + file.relative_to(place).as_posix()
        is_other = home.holds(path, _LOG, f"{RULES}history/", f"{RULES}found-methods.md")
        data = work.vault.own_version(path)
        is_whole = data is not None and data == work.vault.read(path)
        if is_whole and not (is_other or is_template(path) or is_hidden(path)):
            yield path


def _lesson(work: LessonWork, path: str) -> Lesson | None:
    """The lesson that a rule is: the words above the first section, else the title; None for no rule."""
    note = Note.parse(work.vault.read(path) or b"")
    body = parse_body(note.body)
    end = next((at for at, row in enumerate(body.lines) if row.startswith("## ")), len(body.lines))
    rows = zip(body.lines[:end], body.kinds[:end], strict=True)
    plain = [row for row, kind in rows if row.strip() and kind != "comment"]
    title = plain.pop(0)[2:] if plain and plain[0].startswith("# ") else ""
    words = " ".join(" ".join(plain or [title]).split())
    if note.problem is not None or note.type not in (None, "rule") or not words:
        return None
    when, learned = " ".join((note.string("when") or "").split()), str(note.header.get("learned") or "")
    state = _STATES.get(str(note.header.get("status") or "").strip().casefold(), "deprecated")
    made = new_lesson(work.path, words, when, state)
    return replace(made, id=made.id if learned == words_mark(words, when) else learned)
