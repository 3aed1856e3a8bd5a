"""What becomes of questions that are over: the one place for all that nothing waits for, whoever asked them.

An answer is remembered as the person's own words, one about a belief counts for it. Without an answer in time, the note
says what was done instead. What a run was answered is remembered, too, where no conversation keeps it.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TypeAlias

from agent.asking.questions.law import CURIOSITY
from agent.asking.questions.notes import ANSWERED_AT, AskedQuestion, asked_questions, close_question
from agent.errors import BadNote
from agent.events.runs import HumanResponse
from agent.growth.beliefs.from_talk import is_of_owner, session_of
from agent.growth.curiosity.gap import GAP
from agent.loop.records import Began
from agent.loop.session import Session
from agent.markdown.links import note_link
from agent.markdown.yaml_write import Value
from agent.memory.entry import ANSWER, Entry, EntryType, with_question
from agent.memory.profile.questions import CONSENT
from agent.memory.understanding.statements import is_statement
from agent.runs.status import growth_account
from agent.texts import Language, Sentence, text
from agent.vault.change import Create, Edit, Request, Stamp, actor_of
from agent.vault.history.find import indexed_commits
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

ACCOUNT = growth_account("questions")
"""The account of what questions cost, and the job of their commits: `undo --job growth/questions` takes them back."""
STAMP = Stamp(actor_of(ACCOUNT), tool=CURIOSITY)
REMEMBERED = "remembered"
"""The key of a question's header with a link to the entry that has its answer."""
_LOOKED_BACK = timedelta(days=14)
"""How long after its answer a question of a run is looked at: else each look reads all sessions that ever asked."""
Settled: TypeAlias = Request | HumanResponse
"""Something to be written for a question that is over, or what the person has answered."""


def is_something_over(workspace: Workspace) -> bool:
    """True if there is an answer to take in, or a question to close."""
    return any(_settled(workspace))


def settle(workspace: Workspace, tell: Callable[[object], object]) -> tuple[HumanResponse, ...]:
    """Take in what was answered, and close what is over; `tell` publishes what the person has answered, which is
    returned."""
    found = tuple(_settled(workspace))
    answers = tuple(each for each in found if isinstance(each, HumanResponse))
    if found:
        subject = Sentence("question(settle): what was answered or is over")
        with workspace.vault.transaction(subject, STAMP, masked=True) as change:
            change.requests += (each for each in found if not isinstance(each, HumanResponse))
    for answer in answers:
        tell(answer)
    return answers


def _settled(workspace: Workspace) -> Iterator[Settled]:
    vault, now, language = workspace.vault, workspace.clock.now(), workspace.settings.vault.language
    for each in asked_questions(vault):
        found: tuple[Settled, ...] = ()
        if each.run and not each.is_put_away:
            found = _of_run(vault, each, now)
        elif each.is_open and each.is_unprompted:
            found = _unprompted(vault, each, now, language)
        if found and not _is_taken_back(vault, each):
            yield from found


def _is_taken_back(vault: Vault, asked: AskedQuestion) -> bool:
    """True from the undo of what was made of a question until its note is changed again: an undo holds."""
    newest = indexed_commits(vault, asked.path)[:1]
    return any(each.undoes for each in newest) and vault.read_at("HEAD", asked.path) == asked.note.data


def _unprompted(vault: Vault, asked: AskedQuestion, now: datetime, language: Language) -> tuple[Settled, ...]:
    """What becomes of an open question that nothing waits for; nothing while its answer has time."""
    note, at = asked.note, now.replace(microsecond=0)
    response = HumanResponse(note.id or "", asked.path, asked.answer, now)
    if not asked.answer:
        says = text("curiosity.expired", language, at=asked.moment("expires") or now, fallback=asked.fallback).strip()
        return _with(close_question(vault, asked, "expired", says)) if asked.is_over(now) else ()
    if (note.string("profile") or "") not in ("", CONSENT):  # told once; carried out where the profile is changed
        return _with(_marked(vault, asked, ANSWERED_AT, at), response) if asked.moment(ANSWERED_AT) is None else ()
    several = len(asked.ticked) > 1 and bool(note.header.get("values"))
    result = text("curiosity.several" if several else "curiosity.remembered", language, at=now)
    taken: dict[str, Value] = {ANSWERED_AT: at}
    if note.string(GAP) is None:  # whether something may be noted is read in the note itself
        return _with(close_question(vault, asked, "answered", result, **taken), response)
    entry = _entry(vault, asked, now)
    taken[REMEMBERED] = note_link(entry.path)
    return _with(close_question(vault, asked, "answered", result, **taken), entry, response)


def _of_run(vault: Vault, asked: AskedQuestion, now: datetime) -> tuple[Settled, ...]:
    """What the owner has answered in a run is remembered once, unless it stands in a conversation that is read for what
    they state, or the run has read what others wrote: they would choose what is asked."""
    note, at = asked.note, asked.moment(ANSWERED_AT)
    is_done = note.header.get(REMEMBERED) or note.header.get("untrusted") or not asked.answer
    if is_done or at is None or note.string("status") != "answered" or now - at >= _LOOKED_BACK:
        return ()
    session = session_of(vault, note)
    if session is None or _is_read_anyway(session, asked.answer):
        return ()
    entry = _entry(vault, asked, at)
    return _with(_marked(vault, asked, REMEMBERED, note_link(entry.path)), entry)


def _is_read_anyway(session: Session, answer: str) -> bool:
    """True for an answer in a conversation that is read for what its person states, or in one by or for others."""
    if not is_of_owner(session) or session.untrusted:
        return True
    began = next(each.event for each in session.records if isinstance(each.event, Began))
    return not began.job and is_statement(answer)


def _with(edit: Edit | None, *more: Settled) -> tuple[Settled, ...]:
    """The change of a question's note with what goes with it; nothing without the change."""
    return (edit, *more) if edit is not None else ()


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
    made = Entry(vault.clock.new_id(), at, words, EntryType.FACT, source=ANSWER, evidence=(note_link(asked.path),))
    return Create(vault.home.at(made.path), made.note())
