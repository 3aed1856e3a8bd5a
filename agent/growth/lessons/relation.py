"""How two lessons stand to each other: the same, opposite, or neither.

Near is what has words and, by the search index's embedder, meaning in common. What is near is told apart by a "not",
by the order of its parts, and by the fast model where there is one; without a model, what is near counts as the same,
and the person sees in the proposal on which words it rests.
"""

from agent.config.resources import pattern, patterns, words
from agent.growth.patterns.likeness import Vectors, overlap, pair_likeness, words_in
from agent.memory.understanding.seam import TextRelation
from agent.memory.understanding.wording import wording

NEAR, NEAR_BY_WORDS = 0.42, 0.38
"""The likeness (`likeness.pair_likeness`) from which two lessons are near, with and without vectors. Fitted to pairs in
both languages: "Name the source of every figure" is "Give the source for each figure that is quoted", "Read the
calendar before you plan a day" is not "Read the note before you change it"."""
_OPPOSITE = 0.75
"""The share of the shorter one's words that two opposite lessons have in common, their "not" aside."""


def is_near(one: str, other: str, vectors: Vectors | None) -> bool:
    """True if two lessons may say the same."""
    return pair_likeness(one, other, vectors) >= (NEAR_BY_WORDS if vectors is None else NEAR)


def relation(one: str, other: str, vectors: Vectors | None) -> TextRelation:
    """The relation of two lessons: `same`, `contradicts` or `different`."""
    if _are_opposite(one, other):
        return TextRelation.CONTRADICTS
    return TextRelation.SAME if is_near(one, other, vectors) else TextRelation.DIFFERENT


def takes_away_safeguard(text: str) -> bool:
    """True for words that forbid a question, a check or a limit, or that make something happen by itself."""
    return pattern("loosens").search(" ".join(text.split()).replace("’", "'")) is not None


def is_restriction(text: str) -> bool:
    """True if a lesson only forbids something or asks for care, and takes away no safeguard."""
    plain = " ".join(text.split()).replace("’", "'")
    return pattern("restricts").search(plain) is not None and not takes_away_safeguard(text)


def _are_opposite(one: str, other: str) -> bool:
    """True if nearly the same words say the opposite: one has a "not" more, or the other order."""
    first, second = words_in(one), words_in(other)
    if not first or not second or overlap(one, other) < _OPPOSITE:
        return False
    return _is_negative(one) != _is_negative(other) or _are_turned(one, other)


def _is_negative(text: str) -> bool:
    """True for an odd number of "not": "never … without" forbids nothing."""
    plain = wording(text).plain
    nots = sum(word.strip(".,;:!?") in words("negation_words") for word in plain.split())
    marks = 0 if plain.isascii() else len(pattern("negation_marks").findall(plain))
    return (nots + marks + len(pattern("instead").findall(plain))) % 2 == 1


def _are_turned(one: str, other: str) -> bool:
    """True if what comes first in one comes second in the other."""
    here, there = _order(one), _order(other)
    if here is None or there is None:
        return False
    turned = _shared(here[0], there[1]) + _shared(here[1], there[0])
    return turned > _shared(here[0], there[0]) + _shared(here[1], there[1])


def _order(text: str) -> tuple[str, str] | None:
    found = next((match for each in patterns("order") if (match := each.search(text)) is not None), None)
    return (found["first"], found["second"]) if found is not None else None


def _shared(one: str, other: str) -> float:
    first, second = words_in(one), words_in(other)
    return len(first & second) / max(1, min(len(first), len(second)))
