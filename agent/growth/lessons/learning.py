"""From reflections to lessons: what is like a known one supports it, what a skill says already is only logged, what
contradicts one is reported, the rest is proposed; what only restricts and is urgent takes effect at once, and can be
refused.
"""

import logging
from collections.abc import Sequence
from dataclasses import field, replace

from agent.asking.answers import pending_proposals
from agent.dataclass import dataclass
from agent.errors import NoteGone, UserError
from agent.events.growth import LessonChanged
from agent.growth.lessons.book import KnownLessons, LessonBook, known_lessons
from agent.growth.lessons.by_person import evidence_rows
from agent.growth.lessons.candidates import (
    ENOUGH,
    FoundStrategy,
    LessonCandidate,
    find_candidates,
    independent,
    is_urgent,
    usable_strategies,
)
from agent.growth.lessons.lesson import IN_FORCE, Lesson, lesson_sentence, lesson_target
from agent.growth.lessons.lesson_log import LogRow, log_row, logged_words
from agent.growth.lessons.lesson_work import LessonChanges, LessonWork, subject_of
from agent.growth.lessons.proposals import (
    ask_again,
    ask_new,
    ask_opposite,
    ask_wider,
    start_urgent,
)
from agent.growth.patterns.likeness import SKILL_LINES, pair_likeness
from agent.loop.session import load_session
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.understanding.seam import TextRelation
from agent.texts import in_all_languages, text

MOST_AT_ONCE = 3
"""The most lessons about which the person is asked at one time: more would be noise."""
_SHORTEST = 10
"""The characters from which a line of a skill may say what a lesson says."""
logger = logging.getLogger(__name__)


def lesson_strategies(work: LessonWork) -> tuple[FoundStrategy, ...]:
    """The strategies in the reflections from which lessons may come; none of a session with strangers' text in it, and
    none that says what was forgotten."""
    tainted: dict[str, bool] = {}

    def is_tainted(path: str) -> bool:
        if path not in tainted:
            try:
                tainted[path] = bool(load_session(work.vault, path).untrusted)
            except (NoteGone, UserError):
                tainted[path] = False  # a session that is gone steers nothing; its reflection says what it read
        return tainted[path]

    found = [
        each for each in usable_strategies(work.reflections()) if not any(map(is_tainted, each.reflection.sessions))
    ]
    if not found:
        return ()
    stones, marks = load_tombstones(work.vault), in_all_languages("forgetting.mark")
    known = (each for each in found if not any(mark in each.strategy.sentence for mark in marks))
    return tuple(each for each in known if not stones.is_forgotten(each.strategy.sentence))


def start_urgent_lessons(work: LessonWork, book: LessonBook, strategies: Sequence[FoundStrategy]) -> tuple[Lesson, ...]:
    """Let the urgent strategies take effect, each in one commit with the question whether it may stay; returns the new
    lessons."""
    known, begun = known_lessons(work.vault, book, work.vectors()), list[Lesson]()
    for each in filter(is_urgent, strategies):
        lessons = [lesson.sentence for lesson in (*book.lessons, *begun)]
        done = [row.words for row in book.log.rows if row.event == "urgent"]
        if known.is_settled(each.strategy.text, each.strategy.sentence) or known.is_among(
            each.strategy.text, each.strategy.sentence, [*lessons, *done]
        ):
            continue
        try:
            begun.append(start_urgent(work, each))
        except UserError as error:
            logger.warning("%s is not followed: %s", each.strategy.sentence, error)
            continue
        work.tell(LessonChanged(lesson_target(work.path, begun[-1].key), "urgent", "agent"))
    return tuple(begun)


def learn_lessons(work: LessonWork, book: LessonBook, strategies: Sequence[FoundStrategy]) -> LessonChanges:
    """Propose lessons, or support those that there are; returns what was written beside the proposals."""
    learner = _Learner(work, known_lessons(work.vault, book, work.vectors()))
    for candidate in find_candidates(strategies, learner.known.vectors):
        try:
            learner.consider(candidate)
        except UserError as error:
            logger.warning("%s is not proposed: %s", candidate.strategy.sentence, error)
    changes = learner.changes
    if changes.rows:
        changes.write(work, subject_of(changes.rows))
    return changes


@dataclass(slots=True)
class _Learner:
    """One look at the candidates."""

    work: LessonWork
    known: KnownLessons
    changes: LessonChanges = field(default_factory=LessonChanges)

    def consider(self, candidate: LessonCandidate) -> None:
        """Do with a candidate what follows from the lessons that there are."""
        known, strategy = self.known, candidate.strategy
        if known.is_settled(strategy.text, candidate.strategy.sentence):
            return
        lessons = known.book.lessons
        relations = known.relations(strategy.text, [each.text for each in lessons])
        same = [each for each, found in zip(lessons, relations, strict=True) if found is TextRelation.SAME]
        opposite = [each for each, found in zip(lessons, relations, strict=True) if found is TextRelation.CONTRADICTS]
        if same:
            self.support(same[0], candidate)
        elif lesson := next((each for each in opposite if each.state in IN_FORCE), None):
            self.contradict(lesson, candidate)
        elif name := self.skill_that_says(candidate):
            self.note_skill(name, candidate)
        elif self.may_ask():
            ask_new(self.work, candidate)

    def support(self, lesson: Lesson, candidate: LessonCandidate) -> None:
        """More evidence for a lesson that says the same, or more cases; of one that was set aside, a new probation if
        enough has come since."""
        log = self.known.book.log
        if not self.work.is_whole(lesson):
            return  # a part of it has arrived, and the person has not looked at it yet
        if lesson.state not in IN_FORCE:
            self.try_again(lesson, candidate)
            return
        wider = self.wider_case(lesson, candidate.strategy.when)
        if wider and self.may_ask():
            ask_wider(self.work, lesson, wider, candidate)
            return
        known = log.evidence(lesson.key)
        new = [each for each in dict.fromkeys(each.link for each in candidate.evidence) if each not in known]
        self.changes.rows += evidence_rows(self.work, lesson, new)

    def wider_case(self, lesson: Lesson, case: str) -> str:
        """The case of a lesson with this one; empty if it is in it, or the person does not want that."""
        if not (case and lesson.when) or self.known.relations(case, [lesson.when])[0] is not TextRelation.DIFFERENT:
            return ""
        wider = f"{lesson.when}; {case}"
        sentence = lesson_sentence(lesson.text, wider)
        return "" if self.known.is_among(lesson.text, sentence, self.known.book.log.unwanted) else wider

    def contradict(self, lesson: Lesson, candidate: LessonCandidate) -> None:
        """Report once that reflections say the opposite of a lesson, with how it did until then. Where it matters, the
        person is asked: if it is active or theirs, or a reflection calls the opposite grave."""
        book, words = self.known.book, logged_words(candidate.strategy.sentence)
        is_grave = any(each.strategy.severity == "high" for each in candidate.strategies)
        matters = lesson.state == "active" or book.is_settled_by_person(lesson) or is_grave
        if not self.work.is_whole(lesson) or (matters and not self.may_ask()):
            return
        uses = book.counted(lesson)
        so_far = (len(uses), sum(use.is_success for use in uses))
        if matters:
            ask_opposite(self.work, lesson, candidate, so_far)
        if not any(words in row.why for row in book.log.of(lesson.key, "contradicted")):
            why = text("lessons.against", self.work.language, words=words, uses=so_far[0], successes=so_far[1])
            row = log_row(lesson, self.work.now, "contradicted", "agent", f"{why} {_links(candidate)}")
            self.changes.rows.append(row)

    def skill_that_says(self, candidate: LessonCandidate) -> str:
        """The skill that says the same already, in the words of one of the reflections; empty without one."""
        wordings = dict.fromkeys((candidate.strategy.text, *(each.strategy.text for each in candidate.strategies)))
        vectors = self.known.vectors
        for skill in self.work.skills():
            rows = [line.strip(" -*0123456789.") for line in skill.text.splitlines() if len(line) > _SHORTEST]
            for wanted in wordings:
                lines = [line for line in rows if pair_likeness(wanted, line, vectors) >= SKILL_LINES.of(vectors)]
                if TextRelation.SAME in self.known.relations(wanted, lines):
                    return skill.name
        return ""

    def note_skill(self, name: str, candidate: LessonCandidate) -> None:
        """Log once that a skill says the same: it becomes no lesson besides."""
        words = logged_words(candidate.strategy.sentence)
        if not any(row.event == "supported" and row.words == words for row in self.known.book.log.rows):
            why = f"{text('lessons.in_skill', self.work.language, name=name)} {_links(candidate)}"
            self.changes.rows.append(LogRow(self.work.now, "", words, "supported", "agent", why))

    def try_again(self, lesson: Lesson, candidate: LessonCandidate) -> None:
        """Ask about a lesson that the agent has set aside, if enough has been said for it since."""
        last = self.known.book.log.last_state(lesson.key)
        if last is None or last.by == "person":
            return
        later = independent([each for each in candidate.strategies if each.reflection.at > last.at])
        if len(later) >= ENOUGH and self.may_ask():
            ask_again(self.work, lesson, replace(candidate, strategies=tuple(later)))

    def may_ask(self) -> bool:
        """True if not too many questions wait."""
        return len(pending_proposals(self.work.vault, "rule")) < MOST_AT_ONCE


def _links(candidate: LessonCandidate) -> str:
    return ", ".join(dict.fromkeys(each.evidence.link for each in candidate.strategies))
