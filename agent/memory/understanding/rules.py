"""Language understanding by rule, for when no model is there, and for what must not depend on one.

Texts are the same when they have the same words in the same order; what may be left out and what counts as the same
number is data (`configs/understanding.yaml`). That holds for any language. A repetition in other words is missed, which
costs little; two texts that differ are not taken for one, which would cost a memory.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from agent.memory.understanding.seam import Fact, Pair, Relation, SourceText
from agent.memory.understanding.statements import facts_in
from agent.memory.understanding.vocabulary import pattern, patterns, words
from agent.memory.understanding.wording import LABEL, Wording, jaccard, similarity, wording

_TOKEN = re.compile(
    r"[\u3400-\u9fff\u3040-\u30ff]|[^\W\u3400-\u9fff\u3040-\u30ff]+(?:[.:][^\W\u3400-\u9fff\u3040-\u30ff]+)*"
    r"|[,;、?]|-(?=\d)|[^\w\s.!。！:：'\"“”‘’«»()（）\[\]…—–\-*_`~/\\]"
)
"""Words, characters where words are not parted by blanks, commas, and signs that change a meaning: € + < °."""
_SENTENCE = re.compile(r"[^.!?。！？；;\n]+(?:[.:](?=\w)[^.!?。！？；;\n]*)*")
_SENTENCE_LENGTH, _SENTENCES = 200, 12
"""Characters of a sentence, and sentences of a text, that are looked at for contradictions."""
_DENIED = 0.75
"""The share of common terms from which a "not" in one of two sentences denies the other."""
_OTHER_NUMBER = 0.6
"""The share of common terms from which two sentences with other numbers speak of one thing."""


class Rules:
    """Understanding without a model; needs no state, so every instance is the same."""

    def compare(self, pairs: Sequence[Pair]) -> tuple[Relation, ...]:
        """The relation of the newer text of each pair to the older one."""
        return tuple(relation(each.newer, each.older, each.least) for each in pairs)

    def facts(self, sources: Sequence[SourceText]) -> tuple[tuple[Fact, ...], ...]:
        """The facts that each text states."""
        return tuple(tuple(facts_in(source)) for source in sources)


RULES = Rules()


def relation(newer: str, older: str, least: float = 0.8) -> Relation:
    """The relation of a text to an older one; SAME comes first, then ADDS, then CONTRADICTS."""
    if is_same(newer, older):
        return Relation.SAME
    if adds_to(newer, older, least):
        return Relation.ADDS
    return Relation.CONTRADICTS if contradicts(newer, older) else Relation.DIFFERENT


def is_same(one: str, other: str) -> bool:
    """True for two texts that have the same words, in the same order or begun at another place ("in May we sail")."""
    first, second = wording(one), wording(other)
    if first.numbers != second.numbers or first.negated != second.negated:
        return False
    left, right = _tokens(first), _tokens(second)
    if left == right:
        return bool(left)
    if len(left) != len(right) or not words("separators").isdisjoint(_TOKEN.findall(f"{first.plain} {second.plain}")):
        return False
    return any(left[at:] + left[:at] == right for at in range(1, len(left)))


def same_words(text: str) -> frozenset[tuple[str, int]]:
    """A key that two texts share when they are the same; most texts that share it are."""
    said = wording(text)
    return frozenset(Counter((*_tokens(said), *said.numbers)).items())


def adds_to(newer: str, older: str, least: float) -> bool:
    """True when the newer text has all words of the older one in their order, and more, at least so many in common."""
    one, other = wording(newer), wording(older)
    if one.negated != other.negated or not other.numbers <= one.numbers:
        return False
    long, short = _tokens(one), _tokens(other)
    if not short or len(short) >= len(long) or similarity(one, other) < least or ("?" in long) != ("?" in short):
        return False
    rest = iter(long)
    return all(token in rest for token in short)


def contradicts(newer: str, older: str) -> bool:
    """True when a sentence of one text gives the subject of a sentence of the other another value, or denies it.

    What may well be true beside the other does not count: a doubt that is raised is for a person to settle.
    """
    return any(_denies(one, other) for one in _sentences(newer) for other in _sentences(older))


@lru_cache(maxsize=16_384)
def _tokens(said: Wording) -> tuple[str, ...]:
    """The words of a text in their order, without the light ones; a text's only number may stand anywhere."""
    found = (token for token in _TOKEN.findall(said.plain) if token not in words("light"))
    return tuple(token for token in found if len(said.numbers) > 1 or token not in said.numbers)


@lru_cache(maxsize=4_096)
def _sentences(text: str) -> tuple[str, ...]:
    found = (sentence.strip() for sentence in _SENTENCE.findall(LABEL.sub("", text)))
    return tuple(sentence for sentence in found if 0 < len(sentence) <= _SENTENCE_LENGTH)[:_SENTENCES]


def _denies(newer: str, older: str) -> bool:
    one, other = wording(newer), wording(older)
    if not one.terms & other.terms or (one.persons and other.persons and not one.persons & other.persons):
        return False
    if one.negated != other.negated:
        return jaccard(one.terms, other.terms) >= _DENIED
    return _has_other_number(one, other) or _has_other_value(newer, older)


def _has_other_number(one: Wording, other: Wording) -> bool:
    """True when only the last number differs; an earlier one is part of the subject, as a year is."""
    left, right = (_NUMBER.findall(each.plain) for each in (one, other))
    if not left or len(left) != len(right) or left[:-1] != right[:-1] or left[-1] == right[-1]:
        return False
    return jaccard(one.terms, other.terms) >= _OTHER_NUMBER


_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")


def _has_other_value(newer: str, older: str) -> bool:
    for at in range(len(patterns("exclusive"))):
        found, before = _attribute(newer, at), _attribute(older, at)
        if found and before:
            (subject, value), (other_subject, other_value) = found, before
            return bool(subject) and subject == other_subject and bool(value and other_value) and (
                jaccard(value, other_value) < 0.5
            )  # fmt: skip
    return False


@lru_cache(maxsize=16_384)
def _attribute(sentence: str, at: int) -> tuple[frozenset[str], frozenset[str]] | None:
    """The subject and the value of a sentence of the form with this number; None for another form."""
    plain = " ".join(pattern("filler").sub(" ", sentence.casefold().replace("’", "'")).split())
    found = patterns("exclusive")[at].search(plain)
    if found is None:
        return None
    subject, value = wording(found["subject"]), wording(found["value"])
    return subject.terms | subject.numbers, value.terms | value.numbers
