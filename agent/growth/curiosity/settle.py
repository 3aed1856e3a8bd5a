"""What becomes of questions that are over: the one place for all that nothing waits for, whoever asked them.

An answer is remembered as the person's own words, one about a belief counts for it, one that a note about the person
lacks goes there. Without an answer in time, the note says what was done instead. What a run was answered is remembered,
too, where no conversation keeps it.
"""

from datetime import datetime, timedelta
from pathlib import PurePosixPath

from agent.asking.questions.notes import ANSWERED_AT, AskedQuestion, asked_questions, close_question
from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.events.runs import HumanResponse
from agent.growth.beliefs.from_talk import is_of_owner, session_of
from agent.growth.curiosity.gap import FIELD, GAP, NOTE
from agent.loop.records import Began
from agent.markdown.yaml_write import Value
from agent.memory.entry import ANSWER, Entry, EntryType, with_question
from agent.memory.profile.changes import ProfileChange, Proposed, Writing, propose_change
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.questions import CONSENT
from agent.memory.understanding.statements import is_statement
from agent.texts import Language, text
from agent.vault.change import Create, Edit, Request
from agent.vault.folders import PROFILE
from agent.vault.store import Vault

REMEMBERED = "remembered"
"""The key of a question's header with a link to the entry that has its answer."""
_LOOKED_BACK = timedelta(days=14)
"""How long after its answer a question of a run is looked at: else each look reads all sessions that ever asked."""


@dataclass(frozen=True, slots=True)
class FilledGap:
    """An answer that belongs into the note about the person that is named `note`; `entry` is the memory that has it."""

    note: str
    label: str
    answer: str
    entry: str


@dataclass(frozen=True, slots=True)
class SettledQuestions:
    """What is to be written for the questions that are over, what the person has answered, and what of it belongs into
    notes about them, once the requests are written."""

    requests: tuple[Request, ...] = ()
    answers: tuple[HumanResponse, ...] = ()
    filled: tuple[FilledGap, ...] = ()


def settle_questions(vault: Vault, now: datetime, language: Language) -> SettledQuestions:
    """What becomes of the questions that were answered or are over; a question that waits stays as it is."""
    found = [_settled(vault, each, now, language) for each in asked_questions(vault) if not each.is_put_away]
    return SettledQuestions(
        tuple(request for each in found for request in each.requests),
        tuple(answer for each in found for answer in each.answers),
        tuple(filled for each in found for filled in each.filled),
    )


def expired_text(asked: AskedQuestion, language: Language) -> str:
    """What is done after a question that nobody has answered in time."""
    return text("curiosity.expired", language, at=asked.moment("expires"), fallback=asked.fallback).strip()


def fill_note(writing: Writing, filled: FilledGap) -> Proposed:
    """What comes of an answer in the note that lacked it; its entry must be written."""
    words = filled.answer.partition("\n")[0]
    evidence = Evidence(filled.entry.removesuffix(".md"), words)
    change = ProfileChange(filled.note.removeprefix(PROFILE), words, (evidence,), field=filled.label)
    return propose_change(writing, change)


def _settled(vault: Vault, asked: AskedQuestion, now: datetime, language: Language) -> SettledQuestions:
    note = asked.note
    if asked.run:
        return _of_run(vault, asked, now)
    if not (asked.is_open and asked.is_unprompted):
        return SettledQuestions()
    if asked.answer and (note.string("profile") or "") not in ("", CONSENT):
        return _of_profile(vault, asked, now)
    if asked.answer:
        return _answered(vault, asked, now, language)
    if asked.is_over(now):
        closed = close_question(vault, asked, "expired", expired_text(asked, language))
        return SettledQuestions((closed,) if closed else ())
    return SettledQuestions()


def _answered(vault: Vault, asked: AskedQuestion, now: datetime, language: Language) -> SettledQuestions:
    """An answer is taken in: closed, remembered, told."""
    at = now.replace(microsecond=0)
    several = len(asked.ticked) > 1 and bool(asked.note.header.get("values"))
    result = text("curiosity.several" if several else "curiosity.remembered", language, at=now)
    told = HumanResponse(asked.note.id or "", asked.path, asked.answer, now)
    if asked.note.string(GAP) is None:  # whether something may be noted is read in the note itself
        closed = close_question(vault, asked, "answered", result, **{ANSWERED_AT: at})
        return SettledQuestions((closed,), (told,)) if closed else SettledQuestions()
    kept = _entry(vault, asked, now)
    taken: dict[str, Value] = {ANSWERED_AT: at, REMEMBERED: _link(kept.path)}
    closed = close_question(vault, asked, "answered", result, **taken)
    if closed is None:
        return SettledQuestions()
    lacks, label = asked.note.string(NOTE) or "", asked.note.string(FIELD) or ""
    filled = (FilledGap(lacks, label, asked.answer, PurePosixPath(kept.path).stem),) if lacks else ()
    return SettledQuestions((closed, kept), (told,), filled)


def _of_profile(vault: Vault, asked: AskedQuestion, now: datetime) -> SettledQuestions:
    """An answer about two lines is told once; it is carried out where the profile is changed."""
    if asked.moment(ANSWERED_AT) is not None:
        return SettledQuestions()
    marked = _marked(vault, asked, ANSWERED_AT, now.replace(microsecond=0))
    told = HumanResponse(asked.note.id or "", asked.path, asked.answer, now)
    return SettledQuestions((marked,), (told,)) if marked else SettledQuestions()


def _of_run(vault: Vault, asked: AskedQuestion, now: datetime) -> SettledQuestions:
    """What the owner has answered in a run is remembered once, unless it stands in a conversation that is read for what
    they state, or the run has read what others wrote: they would choose what is asked."""
    note = asked.note
    at = asked.moment(ANSWERED_AT)
    is_new = note.string("status") == "answered" and at is not None and now - at < _LOOKED_BACK
    if not is_new or note.header.get(REMEMBERED) or not asked.answer or note.header.get("untrusted"):
        return SettledQuestions()
    session = session_of(vault, asked.note)
    if session is None or not is_of_owner(session) or session.untrusted:
        return SettledQuestions()
    began = next((each.event for each in session.records if isinstance(each.event, Began)), None)
    if began is None or (not began.job and is_statement(asked.answer)):
        return SettledQuestions()
    kept = _entry(vault, asked, at or now)
    marked = _marked(vault, asked, REMEMBERED, _link(kept.path))
    return SettledQuestions((marked, kept)) if marked else SettledQuestions()


def _marked(vault: Vault, asked: AskedQuestion, key: str, value: datetime | str) -> Edit | None:
    """The request that sets a key of a question's header; None while the note is not as it counts."""
    data = vault.read(asked.path)
    try:
        return Edit(asked.path, data, asked.note.with_key(key, value).data) if data == asked.note.data else None
    except BadNote:
        return None


def _entry(vault: Vault, asked: AskedQuestion, at: datetime) -> Create:
    """The answer as a memory: the person's own words first, then what was asked."""
    words = with_question(asked.answer, asked.title)
    made = Entry(vault.clock.new_id(), at, words, EntryType.FACT, source=ANSWER, evidence=(_link(asked.path),))
    return Create(vault.home.at(made.path), made.note())


def _link(path: str) -> str:
    return f"[[{path.removesuffix('.md')}]]"
