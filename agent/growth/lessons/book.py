"""The lessons of a vault with what is known of each: its log, its uses, and what they say."""

from collections.abc import Sequence
from datetime import datetime

from agent.asking.answers import pending_proposals
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.growth.lessons.candidates import relation
from agent.growth.lessons.lesson import Lesson, without_case
from agent.growth.lessons.lesson_log import LessonLog, load_log
from agent.growth.lessons.lesson_note import load_lessons
from agent.growth.lessons.uses import LessonUse, LessonUses, load_runs, uses_of
from agent.growth.lessons.verdict import LessonVerdict, judge_active, judge_probation
from agent.growth.patterns.likeness import Vectors
from agent.memory.understanding.seam import TextRelation
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class LessonBook:
    """All lessons of a vault, their log and their uses."""

    lessons: tuple[Lesson, ...]
    log: LessonLog
    uses: LessonUses

    def counted(self, lesson: Lesson) -> tuple[LessonUse, ...]:
        """The uses of a lesson's present words that say something about it. A run that went wrong says nothing of it if
        a lesson that its uses have set aside came up there, too: that one is to blame."""
        to_blame = self._failed - {lesson.words}
        return tuple(
            use
            for use in self.uses.get(lesson.words, ())
            if use.counts and (use.is_success or use.opinion == "not_helpful" or not use.beside & to_blame)
        )

    def verdict(self, lesson: Lesson, probation: int) -> LessonVerdict:
        """The verdict by the uses of a lesson in force since its probation began; `probation` is the length of that, in
        uses."""
        since = self._let_in(lesson)
        outcomes = [use.is_success for use in self.counted(lesson) if since is None or use.at >= since]
        last = self.log.last_state(lesson.key)
        skips = lesson.state == "active" and (last is None or last.by == "person")
        return (judge_active if skips else judge_probation)(outcomes, probation)

    def is_settled_by_person(self, lesson: Lesson) -> bool:
        """True if the lesson is the person's: in their words, or made active or kept by them. It is never set aside
        without asking."""
        last = self.log.last_state(lesson.key)
        return lesson.is_persons or (last is not None and last.by == "person" and last.event == "active")

    def find(self, name: str) -> Lesson:
        """The lesson with this mark, or with these words in it; raises `UserError` for none or several."""
        wanted = name.strip().removeprefix("^").removeprefix("l-").casefold()
        named = [each for each in self.lessons if wanted in (each.key, each.sentence.casefold())]
        named = named or [each for each in self.lessons if wanted and wanted in each.sentence.casefold()]
        if len(named) == 1:
            return named[0]
        if named:
            names = ", ".join(each.key for each in named)
            raise UserError("several lessons say {name}", hint="name one of them: {names}", name=name, names=names)
        raise UserError("there is no lesson {name}", hint="vault-agent lessons", name=name)

    @property
    def _failed(self) -> frozenset[str]:
        """The marks of the lessons that the agent has set aside."""
        aside = (each for each in self.lessons if each.state == "deprecated")
        last = ((each.words, self.log.last_state(each.key)) for each in aside)
        return frozenset(words for words, row in last if row is not None and row.by == "agent")

    def _let_in(self, lesson: Lesson) -> datetime | None:
        """The time since which the uses count: the lesson's probation began, or the person decided about it."""
        rows = self.log.of(lesson.key, "probation", "urgent", "active", "changed")
        return next((each.at for each in reversed(rows) if each.event != "active" or each.by == "person"), None)


def load_book(vault: Vault) -> LessonBook:
    """The lessons, the log and the uses of a vault."""
    return LessonBook(load_lessons(vault), load_log(vault), uses_of(load_runs(vault)))


def lesson_document(book: LessonBook, lesson: Lesson) -> dict[str, object]:
    """A lesson for `--json`; `uses` and `successes` are those of its present words."""
    uses = book.counted(lesson)
    return {
        "id": lesson.key,
        "path": lesson.path,
        "status": lesson.state,
        "uses": len(uses),
        "successes": sum(use.is_success for use in uses),
        "evidence": [link.strip("[]") for link in book.log.evidence(lesson.key)],
        "rule": lesson.text,
        "when": lesson.when or None,
        "version": book.log.version(lesson.key),
        "yours": book.is_settled_by_person(lesson),
    }


@dataclass(frozen=True, slots=True)
class KnownLessons:
    """The sentences that a new strategy is compared with: the lessons of a vault, and those that the person is asked
    about; `vectors` tell meanings apart."""

    book: LessonBook
    asked: tuple[str, ...]
    vectors: Vectors | None

    def relations(self, text: str, others: Sequence[str]) -> tuple[TextRelation, ...]:
        """The relation of a text to each of the others."""
        return tuple(relation(text, other, self.vectors) for other in others)

    def is_among(self, text: str, sentence: str, others: Sequence[str]) -> bool:
        """True if one of these sentences says the same as a lesson, with its case (`sentence`) or without (`text`)."""
        bare = [without_case(other) for other in others]
        return TextRelation.SAME in (*self.relations(sentence, others), *self.relations(text, bare))

    def is_settled(self, text: str, sentence: str) -> bool:
        """True if the person has refused or deleted such a lesson, or is asked about it."""
        return self.is_among(text, sentence, (*self.book.log.unwanted, *self.asked))


def known_lessons(vault: Vault, book: LessonBook, vectors: Vectors | None) -> KnownLessons:
    """The known lessons of a vault, for the strategies of one look."""
    return KnownLessons(book, tuple(each.facts.get("words", "") for each in pending_proposals(vault, "rule")), vectors)
