"""All the work on the lessons of a vault, in its order: what the person did and answered, what the uses say, and what
the reflections say that is new. Each part is a commit or nothing, and may safely be done again.

Judges the lessons in force by their uses: on probation, to become active or to be set aside; active ones by a drop.

A lesson of the person's is never set aside: they are asked. Of several that came up in the same runs, one may be the
reason that these went wrong. That is most likely what changed last: so the newest one is set aside first, and the
others are judged without those runs (`LessonBook.counted`). If it was one of them, runs without the newest show it.
"""

from agent.asking.answers import pending_proposals, settle_proposals
from agent.errors import UserError
from agent.growth.lessons.book import LessonBook, load_book
from agent.growth.lessons.by_person import rows_by_hand, take_answers
from agent.growth.lessons.learning import learn_lessons, lesson_strategies, start_urgent_lessons
from agent.growth.lessons.lesson import IN_FORCE, Lesson, LessonState
from agent.growth.lessons.lesson_log import LogRow, log_row
from agent.growth.lessons.lesson_note import load_rows
from agent.growth.lessons.lesson_work import LessonChanges, LessonWork, subject_of
from agent.growth.lessons.proposals import ask_end
from agent.growth.lessons.take_over import take_over_rules
from agent.growth.lessons.uses import gather_opinions
from agent.growth.lessons.verdict import LessonVerdict
from agent.texts import text


def judge_lessons(work: LessonWork, book: LessonBook) -> LessonChanges:
    """Give each lesson the state that its uses say, in one commit, but set aside one at a time; returns all that was
    written."""
    every = LessonChanges()
    for _ in book.lessons:
        changes = _judge_once(work, book)
        every.rows += changes.rows
        if not any(row.event == "deprecated" for row in changes.rows):
            break
        book = load_book(work.vault)
    return every


def _judge_once(work: LessonWork, book: LessonBook) -> LessonChanges:
    """Judge all lessons, the newest first, until one is set aside."""
    changes = LessonChanges()
    in_force = [each for each in book.lessons if each.state in IN_FORCE and work.is_whole(each)]
    for lesson in sorted(in_force, key=lambda each: -_let_in(book, each)):
        verdict = book.verdict(lesson, work.probation)
        if verdict.state == lesson.state:
            continue
        if verdict.state == "active":
            _set(work, lesson, "active", verdict, changes)
        elif verdict.state == "deprecated" and not book.is_settled_by_person(lesson):
            changes = LessonChanges()  # what the others are is looked at anew
            _set(work, lesson, "deprecated", verdict, changes)
            break
        elif verdict.state == "deprecated" and not _is_asked(work, lesson):
            ask_end(work, lesson, _format_verdict(work, verdict))
    if changes.rows:
        changes.write(work, subject_of(changes.rows))
    return changes


def _let_in(book: LessonBook, lesson: Lesson) -> float:
    """The moment at which a lesson was let in first; 0 if nobody knows."""
    rows = book.log.of(lesson.key, "probation", "urgent")
    return rows[0].at.timestamp() if rows else 0.0


def _format_verdict(work: LessonWork, verdict: LessonVerdict) -> str:
    """A verdict in the person's language."""
    return text(f"lessons.{verdict.reason}", work.language, uses=verdict.uses, successes=verdict.successes)


def _set(work: LessonWork, lesson: Lesson, state: LessonState, verdict: LessonVerdict, changes: LessonChanges) -> None:
    changes.change(work, lesson, state)
    changes.rows.append(log_row(lesson, work.now, state, "agent", _format_verdict(work, verdict)))


def _is_asked(work: LessonWork, lesson: Lesson) -> bool:
    asked = (each.facts for each in pending_proposals(work.vault, "rule"))
    return any(each.get("asks") == "end" and each.get("lesson") == lesson.key for each in asked)


def tend_lessons(work: LessonWork) -> tuple[LogRow, ...]:
    """Do all of the work; returns the new rows of the log. Nothing is done while changes wait for the repository.

    Raises `UserError` while the header of the note cannot be read: then no lesson is followed.
    """
    if work.vault.queued:
        return ()
    rows = [*follow_lessons(work)]
    strategies = lesson_strategies(work)
    if not strategies:
        return tuple(rows)
    book = load_book(work.vault)
    if start_urgent_lessons(work, book, strategies):
        book = load_book(work.vault)
    rows += learn_lessons(work, book, strategies).rows
    return tuple(rows)


def follow_lessons(work: LessonWork) -> tuple[LogRow, ...]:
    """The part that needs no reflection and no model: what the person did, ticked and answered, and what the uses
    say. Nothing is done, and `UserError` raised, as in `tend_lessons`."""
    if work.vault.queued:
        return ()
    if load_rows(work.vault).is_damaged:
        problem = "no lesson is followed until {path} has a header that can be read and says `type: lessons`"
        raise UserError(problem, hint="vault-agent doctor names the line", path=work.path)
    take_over_rules(work)
    gather_opinions(work)
    settle_proposals(work.vault)
    rows = [*take_answers(work).rows]
    changes = LessonChanges([*rows_by_hand(work)])
    changes.write(work, "lessons(log): what you did by hand")
    rows += changes.rows
    return (*rows, *judge_lessons(work, load_book(work.vault)).rows)
