"""Corrections: sentences that say that something is no longer as it was said, or was never so; and what they correct.

By rules, so conservative: one statement with the same subject and relation is corrected, and none if several may be
meant.
"""

import re
from collections.abc import Sequence

from agent.config.vocabulary import pattern, words
from agent.memory.understanding.rules import attributes
from agent.memory.understanding.statements import is_question, is_request
from agent.memory.understanding.wording import Wording, jaccard, wording

_CLAUSE = re.compile(r"[,，;；:：](?!\d)")
_SIGNS = frozenset(",.:;!—–-，。：！、")
SHORTEST = 60
"""The most characters of a correction that needs the statement before it to be understood."""
_SHARE = 0.5
"""The share of the terms of its subject that a correction has with the statement that it corrects."""
_CLEAR = 1.5
"""The factor by which the best statement must fit better than the second."""


def is_correction(text: str) -> bool:
    """True if the text says that something has changed, or begins by taking something back."""
    return takes_back(text) or _says_change(_typed(text)) is not None


def takes_back(text: str) -> bool:
    """True if the text begins by taking back what was said just before."""
    return _lead(text) > 0


def without_taking_back(text: str) -> str:
    """The text without a "No," or "Sorry:" before it; "No dogs are allowed" stays whole."""
    end = _lead(text)
    return _typed(text)[end:] if end and _typed(text)[:end].rstrip()[-1:] in _SIGNS else text


def is_fragment(text: str) -> bool:
    """True for a short correction of what was said just before, such as "No, actually Lisbon"."""
    return 0 < _lead(text) < len(text.strip()) <= SHORTEST and not is_question(_without_lead(text))


def may_change(sentence: str) -> bool:
    """True for a sentence that no rule takes for a statement, but that may change one that is known."""
    if is_question(sentence) or is_request(sentence) or pattern("passing").search(sentence):
        return False
    return is_correction(sentence) and bool(_subject(_without_lead(sentence)))


def corrected(text: str, statements: Sequence[str]) -> int | None:
    """The number of the statement that the text corrects; None if there is none, or several may be meant."""
    rest = _without_lead(text)
    newer, subject, pairs = wording(rest), _subject(rest), _pairs(rest)
    if not subject:
        return None
    fitting: list[tuple[float, int]] = []
    for number, statement in enumerate(statements):
        older = wording(statement)
        is_its = len(subject & older.words) >= _SHARE * len(subject) and (not pairs or pairs & older.terms)
        if is_its and _is_about_the_same(rest, newer, statement, older, subject):
            fitting.append((jaccard(newer.terms, older.terms), number))
    fitting.sort(key=lambda found: (-found[0], found[1]))
    if not fitting or (len(fitting) > 1 and fitting[0][0] < fitting[1][0] * _CLEAR):
        return None
    return fitting[0][1]


def _subject(text: str) -> frozenset[str]:
    """The terms of the subject; in scripts without spaces, characters."""
    return wording(_beginning(text)).words - words("change_words")


def _pairs(text: str) -> frozenset[str]:
    """The pairs of characters of the subject, in scripts without spaces: single ones are in many words."""
    said = wording(_beginning(text))
    return said.terms - said.words - words("change_words")


def _beginning(text: str) -> str:
    """The text before the first word of change or verb, in its clause."""
    change = _says_change(text)
    start = _CLAUSE.split(text[: change.start()])[-1] if change else text
    verb = pattern("statement").search(start)
    return start[: verb.start()] if verb and verb.start() else start


def _is_about_the_same(rest: str, newer: Wording, statement: str, older: Wording, subject: frozenset[str]) -> bool:
    """True if both say the same sort of thing about their subject: where somebody lives, what a code is.

    A change without more in common is one of the older statement's own subject, not of somebody whom it names.
    """
    one, other = attributes(rest), attributes(_typed(statement))
    if one and other:
        return bool(one & other)
    shared = (newer.words & older.words) - subject - words("change_words")
    changes = pattern("change").search(rest) is not None and bool(subject & _subject(_without_lead(statement)))
    return changes or bool(shared or (newer.numbers and older.numbers))


def _says_change(text: str) -> re.Match[str] | None:
    return pattern("change").search(text) or pattern("change_maybe").search(text)


def _without_lead(text: str) -> str:
    return _typed(text)[_lead(text) :]


def _lead(text: str) -> int:
    """The number of characters with which the text takes back what was said just before; 0 if it does not."""
    found = pattern("correction_lead").match(_typed(text))
    return found.end() if found else 0


def _typed(text: str) -> str:
    return text.replace("’", "'").strip()
