"""What becomes of questions that are over: the one place for all that nothing waits for, whoever asked them.

An answer is remembered as the person's own words, one about a belief counts for it. Without an answer in time, the note
says what was done instead. What a run was answered is remembered, too, where no conversation keeps it.
"""

from datetime import datetime, timedelta

from agent.asking.questions.notes import ANSWERED_AT, AskedQuestion, asked_questions, close_question
from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.events.runs import HumanResponse
from agent.growth.beliefs.from_talk import is_of_owner, session_of
from agent.growth.curiosity.gap import GAP
from agent.loop.records import Began
from agent.markdown.yaml_write import Value
from agent.memory.entry import ANSWER, Entry, EntryType, with_question
from agent.memory.profile.questions import CONSENT
from agent.memory.understanding.statements import is_statement
from agent.texts import Language, text
from agent.vault.change import Create, Edit, Request
from agent.vault.store import Vault

REMEMBERED = "remembered"
"""The key of a question's header with a link to the entry that has its answer."""
_LOOKED_BACK = timedelta(days=14)
"""How long after its answer a question of a run is looked at: else each look reads all sessions that ever asked."""


@dataclass(frozen=True, slots=True)
class SettledQuestions:
    """What is to be written for the questions that are over, and what the person has answered."""

    requests: tuple[Request, ...] = ()
    answers: tuple[HumanResponse, ...] = ()


def settle_questions(vault: Vault, now: datetime, language: Language) -> SettledQuestions:
    """What becomes of the questions that were answered or are over; a question that waits stays as it is."""
    found = [_settled(vault, each, now, language) for each in asked_questions(vault) if not each.is_put_away]
    return SettledQuestions(
        tuple(request for each in found for request in each.requests),
        tuple(answer for each in found for answer in each.answers),
    )


def _expired_text(asked: AskedQuestion, language: Language) -> str:
    """What is done after a question that nobody has answered in time."""
    return text("curiosity.expired", language, at=asked.moment("expires"), fallback=asked.fallback).strip()


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
    closed = expired(vault, asked, now, language)
    return SettledQuestions((closed,) if closed else ())


def expired(vault: Vault, asked: AskedQuestion, now: datetime, language: Language) -> Edit | None:
    """The request that closes a question without an answer, of which the time is over; None for any other."""
    if asked.answer or not asked.is_over(now):
        return None
    return close_question(vault, asked, "expired", _expired_text(asked, language))


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
    return SettledQuestions((closed, kept), (told,))


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
