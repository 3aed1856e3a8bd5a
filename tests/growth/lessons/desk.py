"""A vault with rules, reflections made by hand, and a person who answers in notes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.asking.answers import pending_proposals
from agent.growth.lessons.book import LessonBook, load_book
from agent.growth.lessons.lesson import Lesson, lesson_target
from agent.growth.lessons.lesson_log import LogRow
from agent.growth.lessons.lesson_work import KnownSkill, LessonWork
from agent.growth.lessons.reflection import Grade, Reflection, Strategy
from agent.growth.lessons.tend import tend_lessons
from agent.growth.lessons.uses import LessonRun, UsedLesson, append_runs, opinion_row
from agent.growth.patterns.likeness import vectors_of
from agent.index.embedder import shipped_embedder
from agent.skills.history.usage import Opinion
from agent.texts import Language
from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.stories.agents import ticked
from tests.vaults import write

START = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
READ = (
    "Read the note before you change it",
    "Always read a note first before editing it",
    "Read a note before its change",
)
"""Three ways to say one strategy."""
BOXES = {"en": ("approve", "reject"), "zh": ("批准", "拒绝")}
"""What stands at the boxes for a yes and a no."""


def strategy(
    text: str,
    when: str = "a note is changed",
    confidence: Grade = "medium",
    severity: Grade = "low",
    restricts: bool = False,
) -> Strategy:
    return Strategy(text, when, "nothing of it is lost", confidence, severity, restricts)


def reflection(
    day: int,
    *strategies: Strategy,
    run: str = "",
    strangers: Sequence[str] = (),
) -> Reflection:
    """A reflection of a day, on one run."""
    at = START + timedelta(days=day)
    path = f"reflections/{at:%Y/%m/%Y-%m-%d}-reflections.md"
    runs = (run or f"run-{day}",)
    return Reflection(
        path,
        at,
        "task",
        runs,
        (),
        strategies=strategies,
        strangers=tuple(strangers),
        heading=f"{at:%H:%M} A run",
    )


def three(*texts: str, when: str = "a note is changed", first: int = 0) -> list[Reflection]:
    """Three independent reflections, each with one of these texts."""
    said = texts if len(texts) == 3 else texts * 3
    return [reflection(first + day, strategy(text, when)) for day, text in enumerate(said)]


HEAD = "---\ntype: lessons\n---\n"
"""What the note of lessons begins with."""


@dataclass
class Desk:
    """A vault, the reflections that its agent has, and the person."""

    vault: Vault
    clock: FakeClock
    reflections: list[Reflection] = field(default_factory=list)
    language: Language = "en"
    skills: Sequence[KnownSkill] = ()
    told: list[object] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.vault.place.root

    @property
    def work(self) -> LessonWork:
        return LessonWork(
            self.vault,
            self.language,
            lambda: self.reflections,
            lambda: self.skills,
            lambda: vectors_of(shipped_embedder()),
            tell=self.told.append,
        )

    @property
    def book(self) -> LessonBook:
        return load_book(self.vault)

    def tend(self) -> tuple[LogRow, ...]:
        self.clock.advance(60)
        return tend_lessons(self.work)

    def learn(self, *reflections: Reflection) -> tuple[LogRow, ...]:
        """The agent has reflected; then its work on rules is done."""
        self.reflections += reflections
        now = max(each.at for each in self.reflections) + timedelta(hours=1)
        self.clock.advance(max(0.0, (now - self.clock.now()).total_seconds()))
        return self.tend()

    def asked(self) -> list[str]:
        """The questions that wait."""
        return [each.question for each in pending_proposals(self.vault, "rule")]

    def question(self) -> str:
        """The note of the one question that waits."""
        (asked,) = pending_proposals(self.vault, "rule")
        return (self.root / asked.path).read_text("utf-8")

    def answer(self, yes: bool = True) -> tuple[LogRow, ...]:
        """The person ticks a box of all that waits."""
        for each in pending_proposals(self.vault, "rule"):
            path = self.root / each.path
            write(path, ticked(path.read_text("utf-8"), BOXES[self.language][not yes]))
        return self.tend()

    def admit(self, *texts: str, when: str = "a note is changed") -> Lesson:
        """A rule on probation, learned from three reflections and let in."""
        known = {each.key for each in self.book.lessons}
        first = max(((each.at - START).days for each in self.reflections), default=-1) + 1
        self.learn(*three(*texts, when=when, first=first))
        self.answer()
        (rule,) = (each for each in self.book.lessons if each.key not in known)
        return rule

    def use(self, rule: Lesson, *went_well: bool, beside: Sequence[Lesson] = ()) -> None:
        """Runs in which the case of the rule came up, and of those `beside` it, each an hour after the other: with one
        that went well the person was content, any other failed."""
        rows = list[LessonRun]()
        for is_well in went_well:
            self.clock.advance(3_600)
            given = tuple(UsedLesson(lesson_target(each.path, each.key), each.words) for each in (rule, *beside))
            run = self.clock.new_id()
            rows.append(LessonRun(self.clock.now(), run, "finished" if is_well else "failed", given))
            rows += [opinion_row(self.clock.now(), run, given, "helpful", "")] if is_well else []
        self._append(rows)

    def opine(self, run: str, rule: Lesson, opinion: Opinion) -> None:
        """The person says what they think of a run's rule."""
        self._append(
            [
                opinion_row(
                    self.clock.now(), run, [UsedLesson(lesson_target(rule.path, rule.key), rule.words)], opinion, ""
                )
            ]
        )

    def _append(self, rows: Sequence[LessonRun]) -> None:
        with self.vault.transaction("session: finished", Stamp("agent", tool="capture")) as change:
            change.requests += append_runs(self.vault.home, rows, self.language)

    def evidence(self, lesson: Lesson) -> tuple[str, ...]:
        """The links that a lesson rests on."""
        return self.book.log.evidence(lesson.key)

    def edit(self, before: str, after: str) -> None:
        """The person changes a part of the note of lessons."""
        path = self.root / "lessons.md"
        text = path.read_text("utf-8")
        assert before in text, before
        write(path, text.replace(before, after))

    def lesson(self) -> Lesson:
        """The only lesson."""
        (found,) = self.book.lessons
        return found
