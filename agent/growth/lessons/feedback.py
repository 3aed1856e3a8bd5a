"""The person's opinions of runs that had lessons: boxes ticked in the notes of runs, edits of what the runs wrote, what
they took back, and their next words: of thanks, that it is not what they wanted, or the same question again.

Read from the notes and the history on demand; once an opinion is in the month's note, it is not searched for again. A
box counts for the lesson that it links to; two ticked boxes for one count as no opinion.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Literal

from agent.growth.lessons.lesson import Lesson, lesson_target
from agent.growth.lessons.lesson_work import LessonWork
from agent.growth.lessons.uses import LessonRun, append_runs, load_runs, opinion_row
from agent.loop.record_parse import run_ends
from agent.markdown import blocks, tasks
from agent.markdown.title import short_heading
from agent.runs.reactions import LOOKED_BACK, opinions_on_runs
from agent.texts import Language, Sentence, in_all_languages, text
from agent.vault.change import Stamp
from agent.vault.folders import SESSIONS

MOST = 3
"""The most lessons that are asked about after one run: nobody ticks a long form."""
_BOX = re.compile(r"\[\[([^\]|]+)[^\]]*\]\]\s*[:：]\s*(\S.*)")
_UNSAFE = re.compile(r"[\[\]|]")
BoxOpinion = Literal["helpful", "not_helpful"]
_OPINIONS: tuple[BoxOpinion, ...] = ("helpful", "not_helpful")


def lesson_boxes(lessons: Sequence[Lesson], language: Language) -> str:
    """A question and two boxes for each lesson; empty without any."""
    rows = [
        text("skill_feedback.box", language, name=_named(lesson), opinion=text(f"skill_feedback.{each}", language))
        for lesson in lessons[:MOST]
        for each in _OPINIONS
    ]
    return "\n".join([text("lessons.question", language), "", *(f"- [ ] {row}" for row in rows)]) if rows else ""


def ticked_lessons(note: str) -> Iterator[tuple[str, BoxOpinion]]:
    """What the boxes link to of which exactly one is ticked, and its opinion, for a note in any language."""
    found: dict[str, set[BoxOpinion]] = {}
    for task in tasks.find_tasks(blocks.parse_body(note)):
        box = _BOX.fullmatch(task.text.strip())
        if box is not None and task.done and box[2].strip() in _words():
            found.setdefault(box[1], set()).add(_words()[box[2].strip()])
    for target, opinions in found.items():
        if len(opinions) == 1:
            yield target, opinions.pop()


def gather_opinions(work: LessonWork) -> tuple[LessonRun, ...]:
    """Record what the person has said or shown of the runs of the last two days, in one commit; returns the rows."""
    now = work.now
    rows = load_runs(work.vault, now - LOOKED_BACK)
    opined = {(row.run, each.target) for row in rows if row.opinion for each in row.lessons}
    left = [row for row in (_without(each, opined) for each in rows if not each.opinion) if row.lessons]
    found = [*_by_boxes(work, left, now)]
    opined |= {(row.run, each.target) for row in found for each in row.lessons}
    left = [row for row in (_without(each, opined) for each in left) if row.lessons]
    shown = opinions_on_runs(work.vault, {row.run: row.session for row in left}) if work.corrections and left else {}
    found += [opinion_row(now, row.run, row.lessons, shown[row.run], row.session) for row in left if row.run in shown]
    if found:
        subject, stamp = Sentence("lessons(history): what you think of runs"), Stamp("agent", tool="lesson_feedback")
        with work.vault.transaction(subject, stamp) as change:
            change.requests += append_runs(work.vault.home, found, work.language)
    return tuple(found)


def _without(row: LessonRun, opined: Collection[tuple[str, str]]) -> LessonRun:
    """The row with the lessons about which nothing was said yet."""
    return replace(row, lessons=tuple(each for each in row.lessons if (row.run, each.target) not in opined))


def _by_boxes(work: LessonWork, rows: Sequence[LessonRun], now: datetime) -> Iterator[LessonRun]:
    vault, ends = work.vault, dict[str, dict[str, str]]()
    for row in rows:
        if row.session not in ends:
            data = vault.own_version(row.session) if vault.home.holds(row.session, SESSIONS) else None
            ends[row.session] = dict(run_ends((data or b"").decode("utf-8", "replace")))
        for target, opinion in ticked_lessons(ends[row.session].get(row.run, "")):
            if about := [replace(each, came_up=True) for each in row.lessons if each.target == target]:
                yield opinion_row(now, row.run, about, opinion, row.session)


def _named(lesson: Lesson) -> str:
    """A link to a lesson that says in a few words which one it is."""
    return f"[[{lesson_target(lesson.path, lesson.key)}|{_UNSAFE.sub(' ', short_heading(lesson.text))}]]"


@cache
def _words() -> Mapping[str, BoxOpinion]:
    return {words: each for each in _OPINIONS for words in in_all_languages(f"skill_feedback.{each}")}
