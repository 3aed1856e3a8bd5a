"""What still holds of a text that a later one contradicts in part: "I live in Oslo, and my son is called Jon"."""

import re
from collections.abc import Sequence
from functools import cache

from agent.config.vocabulary import pattern
from agent.memory.understanding.corrections import corrected, is_correction, without_taking_back
from agent.memory.understanding.rules import contradicts, replaces
from agent.memory.understanding.statements import COMMA, is_told, sentences_in


def still_true(older: str, later: Sequence[str]) -> tuple[str, ...]:
    """The statements of the older text that none of the later ones contradicts; none if it cannot be told which of them
    are contradicted."""
    parts = statements_of(older)
    against = {at for text in later for at in _contradicted(text, parts)}
    return tuple(part for at, part in enumerate(parts) if at not in against) if against else ()


def is_disproved(older: str, later: str) -> bool:
    """True if the later text says that a statement of the older one is no longer true, or gives its subject another
    value of the same sort."""
    is_corrected = is_correction(later) and corrected(later, statements_of(older)) is not None
    return is_corrected or gives_another_value(later, older)


def gives_another_value(newer: str, older: str) -> bool:
    """True if a statement of the newer text denies one of the older, or gives its subject another value of the same
    sort."""
    said = statements_of(without_taking_back(newer))
    return any(replaces(one, other) for one in said for other in statements_of(older))


def statements_of(text: str) -> tuple[str, ...]:
    """The statements of a text, each with its subject: "Mara lives in Porto", "Mara works as a nurse"."""
    return tuple(part for sentence in sentences_in(text) for part in _of_sentence(sentence))


def _contradicted(later: str, parts: Sequence[str]) -> set[int]:
    """The numbers of the statements that the later text contradicts."""
    found = {at for at, part in enumerate(parts) if contradicts(later, part)}
    meant = corrected(later, parts) if not found and is_correction(later) else None
    return found if meant is None else {meant}


def _of_sentence(sentence: str) -> list[str]:
    """The statements of a sentence; a part of it that is not understood by itself belongs to the one before."""
    first, *rest = _joint().split(sentence)
    found = [first]
    for joint, piece in zip(rest[::2], rest[1::2], strict=True):
        whole = _with_subject(piece, found[0]) if is_told(found[-1]) else ""
        if whole:
            found.append(whole)
        else:
            found[-1] += joint + piece
    return found


def _with_subject(piece: str, first: str) -> str:
    """A part of a sentence as a statement with a subject, if need be that of the first; empty if it states nothing."""
    verb = pattern("statement").search(f" {piece}")
    if verb is None or pattern("pronoun").match(piece):
        return ""
    if verb.start() > 1:
        return piece if is_told(piece) else ""
    before = pattern("statement").search(f" {first}")
    subject = f" {first}"[: before.start()].strip() if before else ""
    return f"{subject}{' ' if subject.isascii() else ''}{piece}" if subject else ""


@cache
def _joint() -> re.Pattern[str]:
    """What may stand between two statements: a comma, a word such as "and", or both; a colon."""
    word = pattern("joined").pattern
    return re.compile(rf"(\s*{COMMA.pattern}\s*(?:(?:{word})\s*)?|\s*(?:{word})\s*|:\s+|：)", re.IGNORECASE)
