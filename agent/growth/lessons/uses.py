"""The runs that were given lessons, as rows of a table in `lessons/history/2026-11.md`, an append-only note a month;
and what the person thinks of these runs: boxes ticked in their notes, edits of what they wrote, what was taken back,
and the next words of the person: of thanks, that it is not what they wanted, or the same question again.

A row is one run with its lessons, those whose case did not come up in brackets, or a later opinion of the person about
that run; once an opinion has its row, it is not searched for again. A box counts for the lesson that it links to; two
ticked boxes for one count as no opinion. Counting is left to `verdict`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.growth.lessons.lesson import Lesson, lesson_target
from agent.growth.lessons.lesson_work import LessonWork
from agent.loop.record_parse import run_ends
from agent.markdown import blocks, tasks
from agent.markdown.appending import format_head, format_row, timed_rows
from agent.markdown.note import Note
from agent.markdown.title import short_heading
from agent.runs.reactions import LOOKED_BACK, opinions_on_runs
from agent.texts import Language, Sentence, in_all_languages, text
from agent.vault.change import Append, Stamp
from agent.vault.folders import LESSON_HISTORY, SESSIONS, AgentFolder
from agent.vault.store import Vault

RunOpinion: TypeAlias = Literal["", "helpful", "not_helpful", "corrected"]
"""What the person made of a run: a ticked box about one of its lessons; or `corrected`: within a day they edited what
it wrote, took it back, or said that it is not what they wanted."""
FAILED = frozenset(("failed", "limit"))
_COLUMNS = 6
"""Time, run, outcome, lessons, opinion, session."""
_OPINION = "opinion"
_DAY = timedelta(days=1)
_LESSON = re.compile(r"(\()?\[\[([^\]]+)\]\] ([0-9a-f]{8})")


@dataclass(frozen=True, slots=True)
class GivenLesson:
    """A lesson in a run: what a link to its row names, and the mark of its words. `came_up`: the case that it is for
    was given in the run."""

    target: str
    words: str
    came_up: bool = True

    @property
    def cell(self) -> str:
        """The lesson in a cell."""
        cell = f"[[{self.target}]] {self.words}"
        return cell if self.came_up else f"({cell})"


@dataclass(frozen=True, slots=True)
class LessonRun:
    """One run that was given lessons, or an opinion about one: `outcome` is then `opinion`, and it is about all of its
    lessons, or about those in `lessons`."""

    at: datetime
    run: str
    outcome: str
    lessons: tuple[GivenLesson, ...]
    opinion: RunOpinion = ""
    session: str = ""

    @property
    def row(self) -> str:
        """The row of the table, without a line end."""
        session = f"[[{self.session.removesuffix('.md')}]]" if self.session else ""
        lessons = ", ".join(each.cell for each in self.lessons)
        cells = (self.run, self.outcome, lessons, self.opinion, session)
        return format_row(self.at, (cell.replace("|", "/") for cell in cells))


@dataclass(frozen=True, slots=True)
class LessonUse:
    """A run that was given a lesson; it is a use if the lesson's case came up in it (`counts`). `beside` are the marks
    of the other lessons whose cases came up in it."""

    at: datetime
    run: str
    outcome: str
    opinion: RunOpinion
    came_up: bool = True
    beside: frozenset[str] = frozenset()

    @property
    def is_success(self) -> bool:
        """True if the person called the lesson helpful, or was content with the run."""
        return self.opinion == "helpful"

    @property
    def counts(self) -> bool:
        """True if it says something about the lesson: its case came up, and the run failed, or the person reacted. A
        run that has only ended counts for neither."""
        return self.came_up and (self.opinion != "" or self.outcome in FAILED)


def opinion_row(at: datetime, run: str, lessons: Sequence[GivenLesson], opinion: RunOpinion, session: str) -> LessonRun:
    """The row with the person's opinion about a run's lessons."""
    return LessonRun(at, run, _OPINION, tuple(lessons), opinion, session)


def append_runs(home: AgentFolder, runs: Sequence[LessonRun], language: Language) -> tuple[Append, ...]:
    """The requests that add rows to the notes of their months."""
    months: dict[str, list[LessonRun]] = {}
    for each in runs:
        months.setdefault(f"{each.at:%Y-%m}", []).append(each)
    return tuple(
        Append(home.at(f"{LESSON_HISTORY}{month}.md"), _rows(found), _head(month, language))
        for month, found in months.items()
    )


def load_runs(vault: Vault, since: datetime | None = None) -> tuple[LessonRun, ...]:
    """The rows since a moment (None: all), by time; without text that arrived from where others write."""
    folder = vault.home.at(LESSON_HISTORY)
    place = Path(vault.place.root, folder)
    names = sorted(file.name for file in place.glob("*.md")) if place.is_dir() else []
    wanted = (name for name in names if since is None or name >= f"{since - _DAY:%Y-%m}")  # a month of any time zone
    found = (row for name in wanted for row in parse_runs(vault.own_version(folder + name) or b""))
    return tuple(sorted((row for row in found if since is None or row.at >= since), key=lambda row: row.at))


def parse_runs(data: bytes) -> tuple[LessonRun, ...]:
    """The rows of a note that can be parsed; rows that a merge has doubled count once."""
    found = (_parse_row(at, cells) for at, cells in timed_rows(data))
    return tuple(row for row in found if row is not None)


LessonUses: TypeAlias = Mapping[str, tuple[LessonUse, ...]]
"""The uses of all lessons, by the mark of their words: so a lesson keeps its uses wherever its row stands, and begins
anew when its words change. Each has the uses in the order of their times, with the last opinion about it."""


def uses_of(rows: Iterable[LessonRun]) -> LessonUses:
    """The uses of all lessons in these rows, which are in the order of their times."""
    found: dict[str, dict[str, LessonUse]] = {}
    for row in rows:
        came_up = frozenset(each.words for each in row.lessons if each.came_up)
        for given in row.lessons:
            uses = found.setdefault(given.words, {})
            if row.outcome != _OPINION:
                opinion = uses[row.run].opinion if row.run in uses else ""
                beside = came_up - {given.words}
                uses[row.run] = LessonUse(row.at, row.run, row.outcome, opinion, given.came_up, beside)
            elif row.run in uses and row.opinion:
                came_up_too = uses[row.run].came_up or given.came_up
                uses[row.run] = replace(uses[row.run], opinion=row.opinion, came_up=came_up_too)
    return {words: tuple(uses.values()) for words, uses in found.items()}


def _rows(runs: Iterable[LessonRun]) -> bytes:
    return "".join(f"{each.row}\n" for each in runs).encode("utf-8", "replace")


def _head(month: str, language: Language) -> bytes:
    title, about = text("lessons.history", language, month=month), text("lessons.history_about", language)
    table = format_head(text("lessons.history_columns", language), _COLUMNS)
    return Note.compose({"type": "lesson_history"}, f"# {title}\n\n{about}\n\n{table}").data


def _parse_row(at: datetime, cells: Sequence[str]) -> LessonRun | None:
    if len(cells) != _COLUMNS - 1 or cells[3] not in get_args(RunOpinion):
        return None
    run, outcome, given, opinion, session = cells
    lessons, path = tuple(_given(given)), session.removeprefix("[[").removesuffix("]]")
    if not lessons:
        return None
    return LessonRun(at, run, outcome, lessons, cast(RunOpinion, opinion), f"{path}.md" if path else "")


def _given(cell: str) -> Iterator[GivenLesson]:
    for found in _LESSON.finditer(cell):
        yield GivenLesson(found[2], found[3], not found[1])


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
