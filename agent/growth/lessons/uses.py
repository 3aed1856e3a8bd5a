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
from itertools import product
from pathlib import Path
from typing import TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.growth.lessons.lesson_work import LessonWork
from agent.markdown.appending import format_head, format_row, timed_rows
from agent.markdown.links import note_link
from agent.markdown.note import Note
from agent.runs.reactions import LOOKED_BACK, opinions_on_runs, ticked_boxes
from agent.skills.history.stats import FAILURE
from agent.skills.history.usage import Opinion
from agent.texts import Language, Sentence, text
from agent.vault.change import Append, Stamp
from agent.vault.folders import LESSON_HISTORY, AgentFolder
from agent.vault.store import Vault

_COLUMNS = 6
"""Time, run, outcome, lessons, opinion, session."""
_OPINION = "opinion"
_DAY = timedelta(days=1)
_LESSON = re.compile(r"(\()?\[\[([^\]]+)\]\] ([0-9a-f]{8})")


@dataclass(frozen=True, slots=True)
class UsedLesson:
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
    lessons: tuple[UsedLesson, ...]
    opinion: Opinion = ""
    session: str = ""

    @property
    def row(self) -> str:
        """The row of the table, without a line end."""
        session = note_link(self.session) if self.session else ""
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
    opinion: Opinion
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
        return self.came_up and (self.opinion != "" or self.outcome in FAILURE)


def opinion_row(at: datetime, run: str, lessons: Sequence[UsedLesson], opinion: Opinion, session: str) -> LessonRun:
    """The row with the person's opinion about a run's lessons."""
    return LessonRun(at, run, _OPINION, tuple(lessons), opinion, session)


def append_runs(home: AgentFolder, runs: Sequence[LessonRun], language: Language) -> tuple[Append, ...]:
    """The requests that add rows to the notes of their months."""
    months: dict[str, list[LessonRun]] = {}
    for each in runs:
        months.setdefault(f"{each.at:%Y-%m}", []).append(each)
    texts = ((month, "".join(f"{each.row}\n" for each in found)) for month, found in months.items())
    return tuple(
        Append(home.at(f"{LESSON_HISTORY}{month}.md"), rows.encode("utf-8", "replace"), _head(month, language))
        for month, rows in texts
    )


def load_runs(vault: Vault, since: datetime | None = None) -> tuple[LessonRun, ...]:
    """The rows since a moment (None: all), by time; without text that arrived from where others write."""
    folder = vault.home.at(LESSON_HISTORY)
    place = Path(vault.place.root, folder)
    first = f"{since - _DAY:%Y-%m}" if since is not None else ""  # a month of any time zone
    names = sorted(file.name for file in place.glob("*.md") if file.name >= first)
    found = (row for name in names for row in parse_runs(vault.own_version(folder + name) or b""))
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
        for lesson in row.lessons:
            uses = found.setdefault(lesson.words, {})
            known = uses.get(row.run)
            if row.outcome != _OPINION:
                opinion, beside = known.opinion if known else "", came_up - {lesson.words}
                uses[row.run] = LessonUse(row.at, row.run, row.outcome, opinion, lesson.came_up, beside)
            elif known and row.opinion:
                uses[row.run] = replace(known, opinion=row.opinion, came_up=known.came_up or lesson.came_up)
    return {words: tuple(uses.values()) for words, uses in found.items()}


def _head(month: str, language: Language) -> bytes:
    title, about = text("lessons.history", language, month=month), text("lessons.history_about", language)
    table = format_head(text("lessons.history_columns", language), _COLUMNS)
    return Note.compose({"type": "lesson_history"}, f"# {title}\n\n{about}\n\n{table}").data


def _parse_row(at: datetime, cells: Sequence[str]) -> LessonRun | None:
    if len(cells) != _COLUMNS - 1 or cells[3] not in get_args(Opinion):
        return None
    run, outcome, cell, opinion, session = cells
    lessons, path = tuple(_lessons_in(cell)), session.removeprefix("[[").removesuffix("]]")
    if not lessons:
        return None
    return LessonRun(at, run, outcome, lessons, cast(Opinion, opinion), f"{path}.md" if path else "")


def _lessons_in(cell: str) -> Iterator[UsedLesson]:
    for found in _LESSON.finditer(cell):
        yield UsedLesson(found[2], found[3], not found[1])


def gather_opinions(work: LessonWork) -> tuple[LessonRun, ...]:
    """Record what the person thinks of the runs of the last two days, in one commit; returns the rows."""
    found = [*_new_opinions(work)]
    if found:
        subject, stamp = Sentence("lessons(history): what you think of runs"), Stamp("agent", tool="lesson_feedback")
        with work.vault.transaction(subject, stamp) as change:
            change.requests += append_runs(work.vault.home, found, work.language)
    return tuple(found)


def _new_opinions(work: LessonWork) -> Iterator[LessonRun]:
    """The rows about lessons of the last days of which no opinion is known yet."""
    rows = load_runs(work.vault, work.now - LOOKED_BACK)
    rated = {(row.run, each.target) for row in rows if row.opinion for each in row.lessons}
    left = [row for row in (_without(each, rated) for each in rows if not each.opinion) if row.lessons]
    boxes = ticked_boxes(work.vault, {row.run: row.session for row in left})
    unticked = {row.run: row.session for row in left if any(each.target not in boxes[row.run] for each in row.lessons)}
    of_runs = opinions_on_runs(work.vault, unticked) if work.corrections and unticked else {}
    opinions: tuple[tuple[LessonRun, Opinion], ...] = tuple(product(left, get_args(Opinion)[1:]))
    made = (_rated(row, opinion, boxes[row.run], of_runs.get(row.run, ""), work.now) for row, opinion in opinions)
    yield from (row for row in made if row.lessons)


def _without(row: LessonRun, rated: Collection[tuple[str, str]]) -> LessonRun:
    """The row with the lessons about which no opinion is known yet."""
    return replace(row, lessons=tuple(each for each in row.lessons if (row.run, each.target) not in rated))


def _rated(row: LessonRun, opinion: Opinion, boxes: Mapping[str, Opinion], of_run: Opinion, at: datetime) -> LessonRun:
    """The row about the lessons of a run of which the person has this opinion: by a ticked box, or of the whole run."""
    ticked = [replace(each, came_up=True) for each in row.lessons if boxes.get(each.target) == opinion]
    others = [each for each in row.lessons if each.target not in boxes and of_run == opinion]
    return opinion_row(at, row.run, (*ticked, *others), opinion, row.session)
