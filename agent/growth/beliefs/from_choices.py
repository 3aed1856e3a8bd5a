"""What the person has chosen in notes in `questions/`: an option of a question, or which of two values of a belief
holds. Only answers to questions that text by others has not brought about."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import get_args

from agent.asking.questions.notes import ANSWERED_AT, asked_questions
from agent.errors import AgentError
from agent.growth.beliefs.from_talk import choice_of, option_words
from agent.growth.beliefs.sign import Dimension, DimensionKind, Sign
from agent.loop.records import Began
from agent.loop.session import Session, load_session
from agent.markdown.note import Note
from agent.memory.profile.evidence import Evidence
from agent.vault.store import Vault

BELIEF, VALUES = "belief", "values"
"""The keys of a question's header which belief it is about (kind and topic of the dimension), and the values in the
order of the options."""
KIND = "kind"
"""The key of a question's header that says what kind of gap it is about."""
_CHOSEN = ("decision", "judgement")
"""The kinds of gaps whose answer shows a preference."""


def signals_of_questions(vault: Vault) -> Iterator[Sign]:
    """The signals of all answered questions, also of those that were put away."""
    for asked in asked_questions(vault):
        note, ticked = asked.note, asked.ticked
        if len(ticked) != 1 or note.header.get("untrusted") or note.header.get("profile"):
            continue
        options, at, day = asked.options, ticked[0], _day(note)
        evidence = Evidence(asked.path.removesuffix(".md"), day=day.isoformat())
        if (dimension := dimension_in(note)) is not None:
            values = note.strings(VALUES)
            if at < len(values):
                yield Sign("answered", dimension, values[at], day, evidence)
        elif len(options) > 1 and _shows_preference(vault, note):
            plain = tuple(map(option_words, options))
            yield Sign("chosen", choice_of(plain, option_words(asked.title)), plain[at], day, evidence)


def _shows_preference(vault: Vault, note: Note) -> bool:
    """True for a choice that the owner has made: in a run of their own, or among what the agent could not decide."""
    if note.string("run"):
        session = session_of(vault, note)
        return session is not None and is_of_owner(session) and not session.untrusted
    return (note.string(KIND) or "") in _CHOSEN


def belief_header(dimension: Dimension, values: Iterable[str]) -> Mapping[str, list[str]]:
    """The part of a question's header by which the answer counts for a belief."""
    return {BELIEF: [dimension.kind, dimension.topic], VALUES: list(values)}


def dimension_in(note: Note) -> Dimension | None:
    """The belief that a question is about; None for any other question."""
    found = note.strings(BELIEF)
    kinds: tuple[DimensionKind, ...] = get_args(DimensionKind)
    kind = next((each for each in kinds if found[:1] == (each,)), None)
    return Dimension(kind, found[1]) if kind is not None and len(found) > 1 else None


def session_of(vault: Vault, note: Note) -> Session | None:
    """The session of the run that asked in a note; None if there is none to be read."""
    link = (note.string("session") or "").strip("[]")
    try:
        return load_session(vault, f"{link}.md") if PurePosixPath(link).name else None
    except (AgentError, OSError, ValueError):
        return None


def is_of_owner(session: Session) -> bool:
    """True for a conversation of the owner alone, and for work that the agent does alone for them."""
    began = [record.event for record in session.records if isinstance(record.event, Began)]
    is_own = all(each.role == "owner" and not (each.group or each.sender) for each in began)
    return bool(began) and is_own and not session.parent


def _day(note: Note) -> date:
    """The day of the answer, where the note says it, else that of the question."""
    known = (note.header.get(key) for key in (ANSWERED_AT, "created"))
    return next((each.date() for each in known if isinstance(each, datetime)), date.min)
