"""Takes the rules of earlier versions over: notes in `rules/` become rows of `lessons.md`, their log and their uses
those of lessons; the notes go to the archive as they are. All is one commit, which can be undone; nothing is taken
over twice."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from agent.growth.lessons.by_person import evidence_rows
from agent.growth.lessons.lesson import Lesson, lesson_target, words_mark
from agent.growth.lessons.lesson_log import STATES, By, LogRow, load_log, log_row, parse_rows
from agent.growth.lessons.lesson_note import EarlierRule, format_row, load_earlier_rules, load_rows
from agent.growth.lessons.lesson_work import LessonChanges, LessonWork
from agent.texts import text
from agent.vault.change import Move
from agent.vault.folders import ARCHIVE, LEARNED, LESSON_HISTORY, MUTATION_LOG, RULES

_PARTS = re.compile(r"(?P<when>[^:：]+): (?P<text>.+)")


def take_over_rules(work: LessonWork) -> None:
    """Take over the rules, logs and uses of earlier versions that are there; a note in which text has arrived that the
    person has not looked at waits."""
    vault = work.vault
    if not Path(vault.place.root, vault.home.at(RULES)).is_dir() and vault.read(vault.home.at(MUTATION_LOG)) is None:
        return
    changes, rows = LessonChanges(is_copied=True), {each.key: each for each in load_rows(vault).lessons}
    keys = set(rows)
    gone = {key for key in load_log(vault).keys if key not in keys}
    found = [*load_earlier_rules(vault)]
    is_undone = any(each.lesson.key in gone for each in found)
    whole = [each for each in found if vault.own_version(each.path) == vault.read(each.path)]
    rules = [each for each in whole if each.lesson.key not in gone]
    if not is_undone:
        changes.rows += _log_rows(work, {each.path.removesuffix(".md"): each.lesson for each in rules})
    for rule in rules:
        lesson = rule.lesson
        if lesson.key not in keys:
            keys.add(lesson.key)
            changes.lines.append((None, format_row(lesson, work.language)))
            changes.rows += _rows_of(work, rule, changes.rows)
        elif (row := rows.get(lesson.key)) and lesson.state == "deprecated" != row.state and work.is_whole(row):
            changes.change(work, row, "deprecated")  # on a machine that still has the earlier version
    changes.more += _moves_of_notes(work, [each.path for each in rules])
    changes.more += _moves_of_logs(work) if not is_undone else ()
    if changes.more:
        changes.write(work, "lessons(take over): the rules of an earlier version")


def _rows_of(work: LessonWork, rule: EarlierRule, logged: list[LogRow]) -> Iterator[LogRow]:
    """The rows that the log of earlier versions has not: the state of a rule that it did not know, and the evidence.
    Another state than its last one is the person's doing, as in any lesson (`rows_by_hand`)."""
    lesson = rule.lesson
    if not any(row.key == lesson.key and row.event in STATES for row in logged):
        by: By = "person" if lesson.is_persons else "agent"
        yield log_row(lesson, work.now, lesson.state, by, text(f"lessons.found_{by}", work.language))
    links = [each if each.startswith("[[") else f"[[{each}]]" for each in rule.evidence]
    yield from evidence_rows(work, lesson, links)


def _log_rows(work: LessonWork, lessons: Mapping[str, Lesson]) -> Iterator[LogRow]:
    """The rows of the logs of earlier versions, about rows of the note. Those about a rule whose note waits or is
    broken are still about that note, until it is taken over."""
    vault, logged = work.vault, load_log(work.vault).rows
    waiting = [row for row in logged if row.target in lessons]
    for row in (*waiting, *parse_rows(vault.own_version_of(f"{RULES}log.md") or b"")):
        found = lessons.get(row.target)
        parts = _PARTS.fullmatch(row.words)
        mark = words_mark(parts["text"], parts["when"]) if parts else words_mark(row.words, "")
        is_of_rule = row.target and not row.is_of_skill and (found or vault.read(f"{row.target}.md") is None)
        target = lesson_target(work.path, found.key if found else mark) if is_of_rule else row.target
        yield replace(row, target=target)
    for row in parse_rows(vault.own_version_of(MUTATION_LOG) or b""):
        yield row if row.target else replace(row, target=f"{vault.home.at(LEARNED)}{row.words}/SKILL")


def _moves_of_notes(work: LessonWork, notes: Iterable[str]) -> Iterator[Move]:
    """The notes that were rules are archived."""
    home = work.vault.home
    for path in notes:
        yield from _move(work, path, home.at(ARCHIVE) + home.name_of(path))


def _moves_of_logs(work: LessonWork) -> Iterator[Move]:
    """The logs are archived, and what goes on gets its new name."""
    vault, home = work.vault, work.vault.home
    for name in (f"{RULES}log.md", MUTATION_LOG):
        yield from _move(work, home.at(name), home.at(ARCHIVE + name))
    folder = home.at(f"{RULES}history/")
    place = Path(vault.place.root, folder)
    for file in sorted(place.glob("*.md")) if place.is_dir() else ():
        yield from _move(work, folder + file.name, home.at(LESSON_HISTORY) + file.name)


def _move(work: LessonWork, path: str, to: str) -> Iterator[Move]:
    """The move of a note that is there, to a path that is free."""
    if work.vault.read(path) is None:
        return
    stem = to.removesuffix(".md")
    free = (to if number == 1 else f"{stem}-{number}.md" for number in range(1, 1_000))
    yield Move(path, next(each for each in free if work.vault.read(each) is None))
