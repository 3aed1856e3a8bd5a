"""The lessons in runs: each run of the owner's is given those in force, and what became of the run is recorded.

A session keeps the lessons that it was given as long as they stand: one that is set aside, deleted or changed is taken
out of what its model sees, at the next task, and a run that is under way is told. So the beginning of a request stays
the same while nothing has changed, and a provider's cache matches.

A run is given more lessons than concern it: that a page will ask for data, no task says beforehand. So a use of a
lesson is a run that had the lesson before it and in which its case came up; one without a case holds in every run.

A case came up if its words and those of the task mean nearly the same: by the search index's embedder, else by common
words. That misses some uses; it counts few wrong ones, and a box that the person ticks about a lesson counts in any
case.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import field

from agent.context.budget import MESSAGE, Count
from agent.context.source import Piece, Receipt
from agent.dataclass import dataclass
from agent.events.bus import Injection, InjectionType
from agent.events.runs import IterationStarted, TaskCompleted
from agent.growth.lessons.lesson import Lesson, lesson_target
from agent.growth.lessons.lesson_note import load_in_force
from agent.growth.lessons.uses import LessonRun, UsedLesson, append_runs
from agent.growth.patterns.likeness import Vectors, overlap, words_in
from agent.llm.messages import Context
from agent.loop.session import Session
from agent.markdown.inertness.active import inert_line
from agent.markdown.title import short_heading
from agent.memory.capture.writer import Addition
from agent.skills.history.feedback import feedback_form
from agent.texts import LANGUAGES, Language, text
from agent.tools.tool import RunContext
from agent.workspace.workspace import Workspace

FITS = 0.57
"""The cosine of a case and a task from which the case came up. Fitted to pairs in both languages: "meeting notes are
filed" and "File the meeting notes of the budget" have .73, the same case and "When is the weekly meeting?" .48;
修改笔记时 and 把这篇笔记里的日期改一下 .68, and with 概括一下上周的三篇笔记 .52."""
FITS_BY_WORDS = 0.6
"""Without vectors: the share of the case's words that the task has."""
_LINK = re.compile(r"\[\[(?:[^\]|\n]*[/|])?([^\]|\n]+)\]\]")


def case_fits(case: str, task: str, vectors: Vectors | None) -> bool:
    """True if a case (empty: any) and a task mean nearly the same; links in the task count by the names of their
    notes."""
    words_of_task = _LINK.sub(r"\1", task)
    if not case:
        return True
    if vectors is not None:
        rows = vectors([case, words_of_task])
        return float(rows[0] @ rows[1]) >= FITS
    words = words_in(case)
    return bool(words) and len(words & words_in(words_of_task)) / len(words) >= FITS_BY_WORDS


NAME = "rules"
FEW = 6
"""Rules that are all given to each task; of more, those that have no `when`, and the ones whose `when` fits best."""
LEAST_FIT = 0.1
"""The least fit (0 to 1) of a lesson to a task, where there are many: unrelated ones are below it."""
_KEPT = 500
"""Runs whose lessons are kept in memory."""
_MOST_ASKED = 3
"""The most lessons that are asked about after one run: nobody ticks a long form."""
_UNSAFE = re.compile(r"[\[\]|]")
_PRIORITY = 90
_ALWAYS = 1.0
"""The score of a lesson that holds in any case, above that of all others."""
_LINE = re.compile(r"^- \[\[[^\]\n]+\]\] ", re.MULTILINE)


@dataclass(slots=True)
class _InRun:
    """The lessons before the model of one run, by their lines, and those that it was told to follow no more."""

    lines: dict[str, Lesson] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    outdated: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RunLessons:
    """The lessons in the runs of one vault. May be used by several threads. `vectors` loads the embedder when needed.
    Without a model (`has_model`) nothing follows a lesson, and so no run is a use."""

    workspace: Workspace
    count: Count
    vectors: Callable[[], Vectors | None]
    has_model: bool = True
    _runs: OrderedDict[str, _InRun] = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def source(self, context: RunContext, session: Session) -> "LessonTexts":
        """The source of lessons for the tasks of a run; its model is told at its first step what stands no more of what
        the session was given before."""
        lessons = {lesson_line(lesson): lesson for lesson in load_in_force(self.workspace.vault)}
        before = _lines_before(session)
        found = _InRun({line: lessons[line] for line in before if line in lessons})
        found.outdated = [line for line in before if line not in lessons]
        with self._lock:
            if context.run:
                self._runs[context.run] = found
                while len(self._runs) > _KEPT:
                    self._runs.popitem(last=False)
        return LessonTexts(lambda task, room: self._pieces(task, room, lessons, found))

    def refreshed(self, event: IterationStarted) -> tuple[Injection, ...]:
        """The message to the model of a run at the start of a step: the lessons that are not in force any more."""
        with self._lock:
            found = self._runs.get(event.run)
        if found is None or not (found.lines or found.outdated):
            return ()
        in_force = {lesson_line(lesson) for lesson in load_in_force(self.workspace.vault)}
        gone = [line for line in found.lines if line not in in_force and line not in found.gone]
        found.gone.update(gone)
        gone, found.outdated = [*found.outdated, *gone], []
        if not gone:
            return ()
        words = "\n".join([text("lessons.gone", self._language), *gone])
        return (Injection(words, NAME, _PRIORITY, (), InjectionType.WARNING),)

    def additions(self, event: TaskCompleted) -> Sequence[Addition]:
        """The row about a run that has ended, for the note of its month."""
        with self._lock:
            found = self._runs.get(event.run)
        if found is None or not (found.lines and self.has_model) or _had_no_answer(event):
            return ()
        lessons = [lesson for line, lesson in found.lines.items() if line not in found.gone]
        uses = tuple(self._use(each, event.task) for each in lessons)
        at = event.at or self.workspace.clock.now()
        row = LessonRun(at, event.run, event.outcome, uses, session=event.session)
        rows = append_runs(self.workspace.vault.home, [row] if uses else [], self._language)
        return [Addition(each.path, each.head, each.text) for each in rows]

    def _use(self, lesson: Lesson, task: str) -> UsedLesson:
        target = lesson_target(lesson.path, lesson.key)
        return UsedLesson(target, lesson.words, case_fits(lesson.when, task, self.vectors()))

    def endnote(self, run: str) -> str:
        """Boxes for the end of a run's note, about its lessons on probation; empty without any."""
        with self._lock:
            found = self._runs.get(run)
        lessons = found.lines.values() if found is not None and self.has_model else ()
        names = [_named(each) for each in lessons if each.state == "probation"]
        return feedback_form(names[:_MOST_ASKED], "lessons.question", self._language)

    def over(self, event: TaskCompleted) -> None:
        """Drop a finished run; call it once the run's additions are written."""
        with self._lock:
            for run in [each for each in self._runs if each == event.run or each.startswith(f"{event.run}.")]:
                del self._runs[run]

    @property
    def _language(self) -> Language:
        return self.workspace.settings.vault.language

    def _pieces(self, task: str, room: int, lessons: dict[str, Lesson], found: _InRun) -> Sequence[Piece]:
        head = text("lessons.given", self._language)
        room -= self.count(head) + MESSAGE
        pieces = list[Piece]()
        for line, lesson, score in self._chosen(task, lessons):
            used = self.count(line) + MESSAGE  # as `context.assemble.fitting` counts a piece
            if line in found.lines or used > room:
                continue
            room -= used
            found.lines[line] = lesson
            passage = line if pieces else f"{head}\n\n{line}"
            receipt = Receipt(lesson.path, (lesson.line, lesson.line), None, score, lesson.state)
            pieces.append(Piece(passage, NAME, score, receipt))
        return pieces

    def _chosen(self, task: str, lessons: dict[str, Lesson]) -> list[tuple[str, Lesson, float]]:
        """The lines and lessons for a task, each with its score, those that hold in any case first."""
        scored = [
            (line, lesson, self._fit(lesson, task) if lesson.when else _ALWAYS) for line, lesson in lessons.items()
        ]
        scored.sort(key=lambda each: -each[2])
        if len(scored) <= FEW:
            return scored
        always = [each for each in scored if each[2] >= _ALWAYS]
        fitting = [each for each in scored if LEAST_FIT <= each[2] < _ALWAYS]
        return always + fitting[:FEW]

    def _fit(self, lesson: Lesson, task: str) -> float:
        return max(fit(each, task, self.vectors()) for each in (lesson.when, lesson.sentence))


@dataclass(frozen=True, slots=True)
class LessonTexts:
    """The source of lessons for the tasks of one run."""

    ask: Callable[[str, int], Sequence[Piece]]

    @property
    def name(self) -> str:
        return NAME

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The lessons for a task that the session has not been given yet, one piece each."""
        return self.ask(task, room)


def lesson_line(lesson: Lesson) -> str:
    """The line by which a lesson stands before a model."""
    return f"- {lesson.link} {inert_line(lesson.sentence)}"


def _named(lesson: Lesson) -> str:
    """A link to a lesson that says in a few words which one it is."""
    target = lesson_target(lesson.path, lesson.key)
    return f"[[{target}|{_UNSAFE.sub(' ', short_heading(lesson.text))}]]"


def fit(words: str, task: str, vectors: Vectors | None) -> float:
    """How well a lesson fits a task, 0 to 1: by meaning; without vectors, by common words."""
    if vectors is None:
        return overlap(words, task)
    rows = vectors([words, task])
    return max(0.0, float(rows[0] @ rows[1]))


def _lines_before(session: Session) -> list[str]:
    """The lines of lessons that a session was given, without those that it was told of that they stand no more."""
    withdrawn = {text("lessons.gone", language) for language in LANGUAGES}
    lines_before: dict[str, None] = {}
    for message in session.history:
        if isinstance(message, Context) and message.source == NAME:
            head, *rows = message.text.split("\n")
            lines = [row for row in (head, *rows) if _LINE.match(row)]
            lines_before = (
                {row: None for row in lines_before if row not in lines}
                if head in withdrawn
                else lines_before | dict.fromkeys(lines)
            )
    return list(lines_before)


def _had_no_answer(event: TaskCompleted) -> bool:
    """True for a run whose model could not be asked at all: that says nothing of the lessons that it was to be
    given."""
    return event.outcome == "failed" and not event.output_tokens
