"""How two texts are related, by rules: whether they say the same, more, or the opposite.

Texts are the same when they have the same words in the same order; ignorable words and equal numbers are data
(`configs/understanding.yaml`). That works in any language. A repetition in other words is missed, which costs little;
two different texts are not taken as one, which would lose a memory.
"""

import re
from collections import Counter
from functools import lru_cache

from agent.config.resources import pattern, patterns, words
from agent.memory.understanding.seam import TextRelation
from agent.memory.understanding.wording import LABEL, Wording, jaccard, similarity, wording

_TOKEN = re.compile(
    r"[\u3400-\u9fff\u3040-\u30ff]|[^\W\u3400-\u9fff\u3040-\u30ff]+(?:[.:][^\W\u3400-\u9fff\u3040-\u30ff]+)*"
    r"|[,;、?]|-(?=\d)|[^\w\s.!。！:：'\"“”‘’«»()（）\[\]…—–\-*_`~/\\]"
)
"""Words, characters of scripts without spaces, commas, and signs that change a meaning: € + < °."""
_SENTENCE = re.compile(r"[^.!?。！？；;\n]+(?:[.:](?=\w)[^.!?。！？；;\n]*)*")
_SENTENCE_LENGTH, _SENTENCES = 200, 12
"""The most characters of a sentence, and sentences of a text, that are checked for contradictions."""
_PLAIN = re.compile(r"\w+")
_DIFFERING = 16
"""The number of different words up to which two texts may still say the same."""
_DENIED = 0.75
"""The share of common terms from which a "not" in one of two sentences contradicts the other."""
_OTHER_NUMBER = 0.6
"""The share of common terms from which two sentences with different numbers have the same subject."""


def relation(newer: str, older: str, least: float = 0.8) -> TextRelation:
    """The relation of a text to an older one; SAME is tested first, then ADDS, then CONTRADICTS. `least` is the share
    of common words (Jaccard, 0 to 1) that ADDS needs."""
    if is_same(newer, older):
        return TextRelation.SAME
    if adds_to(newer, older, least):
        return TextRelation.ADDS
    return TextRelation.CONTRADICTS if contradicts(newer, older) else TextRelation.DIFFERENT


def is_same(one: str, other: str) -> bool:
    """True for two texts with the same words in the same order, which may start at another word ("in May we sail")."""
    if _are_far_apart(one, other):
        return False
    first, second = wording(one), wording(other)
    if first.numbers != second.numbers or first.negated != second.negated:
        return False
    left, right = _tokens(first), _tokens(second)
    if left == right:
        return bool(left)
    if len(left) != len(right) or not words("separators").isdisjoint(_TOKEN.findall(f"{first.plain} {second.plain}")):
        return False
    return any(left[at:] + left[:at] == right for at in range(1, len(left)))


def forget_wordings() -> None:
    """Forget the parts of texts that were compared. A text takes 2.6 KB and 0.1 ms: they are kept while work goes on
    that compares each with many, and no longer, as a daemon meets new texts all day long."""
    for each in (wording, _tokens, _plain_words, _sentences, _attribute):
        each.cache_clear()


def says_no_more(newer: str, older: str) -> bool:
    """True if the newer text has no number, name or other word that the older one does not have, apart from words that
    say how much; in whatever order."""
    one, other = wording(newer), wording(older)
    if one.negated != other.negated or one.persons - other.persons or not one.numbers <= other.numbers:
        return False
    more = one.words - other.words - words("degree")
    return bool(one.words & other.words) and not more


def same_words(text: str) -> frozenset[tuple[str, int]]:
    """A key equal for texts that are the same, and rarely for others."""
    parts = wording(text)
    return frozenset(Counter((*_tokens(parts), *parts.numbers)).items())


def adds_to(newer: str, older: str, least: float) -> bool:
    """True if the newer text has all words of the older one in order, and more, with at least `least` similarity."""
    one, other = wording(newer), wording(older)
    if one.negated != other.negated or not other.numbers <= one.numbers:
        return False
    long, short = _tokens(one), _tokens(other)
    if not short or len(short) >= len(long) or similarity(one, other) < least or ("?" in long) != ("?" in short):
        return False
    rest = iter(long)
    return all(token in rest for token in short)


def contradicts(newer: str, older: str) -> bool:
    """True if a sentence of one text negates a sentence of the other, or gives its subject another value.

    Statements that can both be true do not count, because a person has to resolve each contradiction.
    """
    return any(_denies(one, other) for one in _sentences(newer) for other in _sentences(older))


def _are_far_apart(one: str, other: str) -> bool:
    """True for two texts that differ in so many plain words that light words, courtesies and numbers cannot be all of
    them. Found at a tenth of the cost of a wording."""
    left, right = _plain_words(one), _plain_words(other)
    return len(left ^ right) > max(_DIFFERING, len(left | right) // 2)


@lru_cache(maxsize=4_096)
def _plain_words(text: str) -> frozenset[str]:
    return frozenset(_PLAIN.findall(text.casefold()))


@lru_cache(maxsize=16_384)
def _tokens(text: Wording) -> tuple[str, ...]:
    """The words of a text in order, without light words; a single number is left out, as it may stand anywhere."""
    found = (token for token in _TOKEN.findall(text.plain) if token not in words("light"))
    return tuple(token for token in found if len(text.numbers) > 1 or token not in text.numbers)


@lru_cache(maxsize=4_096)
def _sentences(text: str) -> tuple[str, ...]:
    found = (sentence.strip() for sentence in _SENTENCE.findall(LABEL.sub("", text)))
    return tuple(sentence for sentence in found if 0 < len(sentence) <= _SENTENCE_LENGTH)[:_SENTENCES]


def _plain(sentence: str) -> str:
    return " ".join(pattern("filler").sub(" ", sentence.replace("’", "'")).split())


def _denies(newer: str, older: str) -> bool:
    """True if one sentence negates the other, or has another value or number for its subject."""
    one, other = wording(newer), wording(older)
    if one.persons and other.persons and not one.persons & other.persons:
        return False
    if one.negated != other.negated:
        return jaccard(one.terms, other.terms) >= _DENIED
    return _has_other_number(one, other) or _has_other_value(newer, older)


def _has_other_number(one: Wording, other: Wording) -> bool:
    """True if only the last number differs; an earlier one, such as a year, is part of the subject."""
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
            is_other = bool(value and other_value) and jaccard(value, other_value) < 0.5
            return bool(subject) and subject == other_subject and is_other
    return False


@lru_cache(maxsize=16_384)
def _attribute(sentence: str, at: int) -> tuple[frozenset[str], frozenset[str]] | None:
    """The subject and value of a sentence that matches the pattern with this number; None otherwise.

    The person who speaks is a subject that has no terms ("I").
    """
    plain = _plain(sentence)
    found = patterns("exclusive")[at].search(plain)
    if found is None:
        return None
    subject, value = wording(found["subject"]), wording(found["value"])
    who = subject.terms | subject.numbers
    if not who and pattern("own_subject").match(plain):
        who = frozenset(f"person {each}" for each in subject.persons)
    return who, value.terms | value.numbers
