"""The questions about lessons: may one be tried, changed, tried again, stay although it began at once, or be set aside;
or does its opposite hold. What a yes writes is one row of the note, so that several questions may wait."""

from collections.abc import Sequence
from dataclasses import replace

from agent.asking.answers import propose, request_for
from agent.asking.proposal import Proposal, ProposalDraft, ProposedNote
from agent.growth.lessons.candidates import FoundStrategy, LessonCandidate, LessonEvidence
from agent.growth.lessons.lesson import Lesson, lesson_sentence
from agent.growth.lessons.lesson_log import append_rows, log_row, logged_words
from agent.growth.lessons.lesson_note import format_row, new_lesson, note_head
from agent.growth.lessons.lesson_work import LessonWork
from agent.markdown.inertness.active import inert_line
from agent.memory.entry import slug
from agent.texts import text


def ask_new(work: LessonWork, candidate: LessonCandidate) -> None:
    """Ask whether a new lesson may be tried."""
    lesson = new_lesson(work.path, candidate.strategy.text, candidate.strategy.when)
    why = text("lessons.why_new", work.language, count=len(candidate.strategies), uses=work.probation)
    _ask(work, "new", None, lesson, why, candidate.evidence)


def ask_again(work: LessonWork, lesson: Lesson, candidate: LessonCandidate) -> None:
    """Ask whether a lesson that was set aside may be tried again."""
    count = len(candidate.strategies)
    why = text("lessons.why_again", work.language, link=lesson.link, count=count, uses=work.probation)
    _ask(work, "again", lesson, replace(lesson, state="probation"), why, candidate.evidence)


def ask_wider(work: LessonWork, lesson: Lesson, wider: str, candidate: LessonCandidate) -> None:
    """Ask whether a lesson may hold in more cases, as its next version."""
    why = text("lessons.why_wider", work.language, link=lesson.link, count=len(candidate.strategies))
    _ask(work, "wider", lesson, new_lesson(work.path, lesson.text, wider, lesson.state), why, candidate.evidence)


def ask_opposite(work: LessonWork, lesson: Lesson, candidate: LessonCandidate, so_far: tuple[int, int]) -> None:
    """Ask whether the opposite of a lesson holds from now on, as its next version. A no keeps the lesson."""
    other = new_lesson(work.path, candidate.strategy.text, candidate.strategy.when, lesson.state)
    old, count, (uses, successes) = inert_line(lesson.sentence), len(candidate.strategies), so_far
    why = text("lessons.why_opposite", work.language, count=count, rule=old, uses=uses, successes=successes)
    _ask(work, "opposite", lesson, other, why, candidate.evidence)


def ask_end(work: LessonWork, lesson: Lesson, verdict: str) -> None:
    """Ask whether a lesson of the person's may be set aside."""
    why = text("lessons.why_end", work.language, link=lesson.link, why=verdict)
    _ask(work, "end", lesson, replace(lesson, state="deprecated"), why, ())


def start_urgent(work: LessonWork, found: FoundStrategy) -> Lesson:
    """Let a lesson that only restricts take effect at once, and ask whether it may stay: all in one commit."""
    lesson = new_lesson(work.path, found.strategy.text, found.strategy.when)
    row = log_row(lesson, work.now, "urgent", "agent", found.evidence.link)
    draft = _draft(
        work, "urgent", lesson, text("lessons.why_urgent", work.language, link=lesson.link), [found.evidence]
    )
    note = ProposedNote(work.path, format_row(lesson, work.language), None, note_head(work.language))
    also = (request_for(work.vault, note), append_rows(work.vault.home, [row], work.language))
    propose(work.vault, draft, work.language, also=also)
    return lesson


def _ask(
    work: LessonWork,
    asks: str,
    before: Lesson | None,
    after: Lesson,
    why: str,
    evidence: Sequence[LessonEvidence],
) -> Proposal:
    draft = _draft(work, asks, before if asks in ("again", "end") and before else after, why, evidence)
    facts = {**draft.facts, **({"before": before.key} if before is not None else {})}
    note = ProposedNote(
        work.path, format_row(after, work.language), before.row if before else None, note_head(work.language)
    )
    return propose(work.vault, replace(draft, notes=(note,), facts=facts), work.language)


def _draft(work: LessonWork, asks: str, lesson: Lesson, why: str, evidence: Sequence[LessonEvidence]) -> ProposalDraft:
    rows = "\n".join(f"- {each.day} {each.link}: {inert_line(each.words)}" for each in evidence)
    links = tuple(dict.fromkeys(each.link for each in evidence))
    return ProposalDraft(
        "rule",
        slug(lesson.text) or lesson.key,
        text(f"lessons.ask_{asks}", work.language, rule=inert_line(lesson_sentence(lesson.text, lesson.when))),
        why,
        (),
        ((text("lessons.sources", work.language), rows),) if rows else (),
        links or (lesson.link,),
        {"asks": asks, "lesson": lesson.key, "words": logged_words(lesson.sentence)},
        work.actor,
    )
