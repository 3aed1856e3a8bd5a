"""All the work on the lessons of a vault, in its order: what the person did and answered, what the uses say, and what
the reflections say that is new. Each part is a commit or nothing, and may safely be done again."""

from agent.asking.answers import settle_proposals
from agent.errors import UserError
from agent.growth.lessons.book import load_book
from agent.growth.lessons.by_person import rows_by_hand, take_answers
from agent.growth.lessons.feedback import gather_opinions
from agent.growth.lessons.judging import judge_lessons
from agent.growth.lessons.learning import learn_lessons, lesson_strategies, propose_methods, start_urgent_lessons
from agent.growth.lessons.lesson_log import LogRow
from agent.growth.lessons.lesson_note import load_rows
from agent.growth.lessons.lesson_work import LessonChanges, LessonWork
from agent.growth.lessons.take_over import take_over_rules


def tend_lessons(work: LessonWork) -> tuple[LogRow, ...]:
    """Do all of the work; returns the new rows of the log. Nothing is done while changes wait for the repository.

    Raises `UserError` while the header of the note cannot be read: then no lesson is followed.
    """
    if work.vault.queued:
        return ()
    rows = [*follow_lessons(work)]
    said = lesson_strategies(work)
    if not said:
        return tuple(rows)
    book = load_book(work.vault)
    if start_urgent_lessons(work, book, said):
        book = load_book(work.vault)
    rows += learn_lessons(work, book, said).rows
    return tuple(rows)


def follow_lessons(work: LessonWork) -> tuple[LogRow, ...]:
    """The part that needs no reflection and no model: what the person did, ticked and answered, and what the uses
    say. Raises `UserError` as `tend_lessons` does."""
    if load_rows(work.vault).is_damaged:
        told = "the header of {path} cannot be read: no lesson is followed until it is mended"
        raise UserError(told, hint="vault-agent doctor names the line", path=work.path)
    take_over_rules(work)
    gather_opinions(work)
    settle_proposals(work.vault)
    rows = [*take_answers(work).rows]
    changes = LessonChanges([*rows_by_hand(work, load_book(work.vault))])
    changes.write(work, "lessons(log): what you did by hand")
    rows += changes.rows
    rows += propose_methods(work).rows
    return (*rows, *judge_lessons(work, load_book(work.vault)).rows)
