"""The person's decisions on lessons: by hand in the note, by a box at a question, by a command; as rows of the log.

The log has the last state that the program knew. What differs from it is the person's doing, and stands. A yes has
written its row of the note already (`asking.answers`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.asking.answers import answered_proposals, mark_taken
from agent.asking.proposal import Proposal
from agent.errors import UserError
from agent.growth.lessons.lesson import IN_FORCE, Lesson, LessonState, lesson_target
from agent.growth.lessons.lesson_log import By, LessonEvent, LessonLog, LogRow, load_log, log_row, logged_words
from agent.growth.lessons.lesson_note import load_lessons, load_rows, parse_lessons
from agent.growth.lessons.lesson_work import LessonChanges, LessonWork
from agent.markdown.links import note_link
from agent.markdown.note import Note
from agent.texts import text
from agent.vault.change import Stamp

_LINKS = 3
"""The links in a row of the log."""


def take_answers(work: LessonWork) -> LessonChanges:
    """Take in the answers that nothing has followed from yet, in one commit; returns what was written."""
    changes, answered = LessonChanges(), answered_proposals(work.vault, "rule")
    for proposal in answered:
        _take(work, proposal, changes)
    changes.write(work, "lessons(answers): what you have decided")
    for proposal in answered:
        mark_taken(work.vault, proposal)
    return changes


def rows_by_hand(work: LessonWork) -> Iterator[LogRow]:
    """The rows about what the person has done since the last row about each lesson."""
    there, log = load_rows(work.vault).lessons, load_log(work.vault)
    for lesson in there:
        last, words = log.last_state(lesson.key), logged_words(lesson.sentence)
        if last is None or log.of(lesson.key)[-1].event in ("deleted", "replaced"):
            by: By = "person" if lesson.is_persons else "agent"
            yield log_row(lesson, work.now, lesson.state, by, text(f"lessons.found_{by}", work.language))
        elif ("probation" if last.event == "urgent" else last.event) != lesson.state:
            yield log_row(lesson, work.now, lesson.state, "person", text("lessons.set_by_hand", work.language))
        elif _words(log, lesson.key) != words:
            yield log_row(lesson, work.now, "changed", "person", text("lessons.changed_by_hand", work.language))
    yield from _gone(work, log, there)


def decide_lesson(work: LessonWork, lesson: Lesson, state: LessonState, why: str = "") -> Lesson:
    """Set a lesson aside (`deprecated`) or make it `active` in the person's name, in one commit: then it is not set
    aside again without asking. Raises `UserError` if it is so already."""
    if state == "active" == lesson.state:
        raise UserError("{rule} is active already", rule=lesson.sentence)
    if state == "deprecated" and lesson.state not in IN_FORCE:
        raise UserError("{rule} is set aside already", rule=lesson.sentence)
    if not work.is_whole(lesson):
        hint = "look at it first: vault-agent trust"
        raise UserError("{path} has text that arrived from elsewhere", hint=hint, path=lesson.path)
    changes, reason = LessonChanges(), work.vault.masked(" ".join(why.split()))
    changes.change(work, lesson, state)
    changes.rows.append(log_row(lesson, work.now, state, "person", reason or text("lessons.by_command", work.language)))
    changes.write(work, f"lessons({state}): {lesson.sentence[:60]}", Stamp("human"))
    return replace(lesson, state=state)


def evidence_rows(work: LessonWork, lesson: Lesson, links: Sequence[str]) -> Iterator[LogRow]:
    """The rows that say what a lesson rests on."""
    for at in range(0, len(links), _LINKS):
        yield log_row(lesson, work.now, "supported", "agent", ", ".join(links[at : at + _LINKS]))


def _gone(work: LessonWork, log: LessonLog, there: Sequence[Lesson]) -> Iterator[LogRow]:
    """The rows about lessons whose rows are in the note no more, whoever wrote what is in it now."""
    all_rows = parse_lessons(work.path, work.vault.read(work.path) or b"").lessons
    keys = {each.key for each in (*there, *all_rows)}
    present = {logged_words(each.sentence) for each in load_lessons(work.vault)}
    for key in log.keys:
        rows = log.of(key)
        if key not in keys and rows[-1].event not in ("deleted", "replaced", "merged") and log.last_state(key):
            words = _words(log, key)
            if words not in present:
                target = lesson_target(work.path, key)
                yield LogRow(work.now, target, words, "deleted", "person", text("lessons.deleted", work.language))


def _words(log: LessonLog, key: str) -> str:
    """The last words of a lesson in the log; empty without any."""
    rows = log.of(key, "probation", "urgent", "active", "deprecated", "changed", "supported", "deleted")
    return rows[-1].words if rows else ""


def _take(work: LessonWork, proposal: Proposal, changes: LessonChanges) -> None:
    why, lesson = note_link(proposal.path), _lesson_of(work, proposal)
    if proposal.status == "approved":
        changes.rows += _after_yes(work, proposal, lesson, why) if lesson is not None else ()
    elif proposal.status == "rejected":
        _take_no(work, proposal, lesson, f"{proposal.reason} {why}".strip(), changes)


def _lesson_of(work: LessonWork, proposal: Proposal) -> Lesson | None:
    """The lesson that a question is about."""
    wanted = proposal.facts.get("lesson", "")
    return next((each for each in reversed(load_lessons(work.vault)) if each.key == wanted), None)


def _take_no(work: LessonWork, proposal: Proposal, lesson: Lesson | None, why: str, changes: LessonChanges) -> None:
    """A no keeps a lesson that was to end, and ends one that took effect at once; nothing refused is asked again."""
    if proposal.facts.get("asks") == "end":
        reason = f"{text('lessons.kept', work.language)} {why}"
        changes.rows += [log_row(lesson, work.now, "active", "person", reason)] if lesson is not None else []
        return
    if proposal.facts.get("asks") == "urgent" and lesson is not None:
        changes.change(work, lesson, "deprecated")
        changes.rows.append(log_row(lesson, work.now, "deprecated", "person", why))
    changes.rows.append(LogRow(work.now, "", proposal.facts.get("words", ""), "refused", "person", why))


def _after_yes(work: LessonWork, proposal: Proposal, lesson: Lesson, why: str) -> Iterator[LogRow]:
    """The rows about a lesson that a yes has written: with other words it takes over what the earlier ones rest on."""
    log, before = load_log(work.vault), proposal.facts.get("before", "")
    state: LessonEvent = lesson.state
    evidence = Note.parse(work.vault.own_version(proposal.path) or b"").strings("evidence")
    if before and before != lesson.key:
        last = log.last_state(before)
        words = text("lessons.before", work.language, version=log.version(before), words=_words(log, before))
        yield LogRow(work.now, lesson_target(lesson.path, before), lesson.sentence, "replaced", "person", why)
        yield log_row(lesson, work.now, "changed", "person", f"{words} {why}")
        yield log_row(lesson, work.now, state, last.by if last is not None else "person", why)
        evidence = (*log.evidence(before), *evidence)
    else:
        yield log_row(lesson, work.now, state, "person", why)
    if proposal.facts.get("asks") != "end":
        known = log.evidence(lesson.key)
        yield from evidence_rows(work, lesson, [each for each in dict.fromkeys(evidence) if each not in known])
