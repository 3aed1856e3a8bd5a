"""Which texts ask for the same: groups by common words and by the vectors of the search index's embedder."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np

from agent.config.resources import characters, words
from agent.index.analysis import CJK_STOP, terms
from agent.index.arrays import Floats
from agent.index.embedder import Embedder
from agent.memory.understanding.wording import jaccard, wording

Vectors: TypeAlias = Callable[[Sequence[str]], Floats]
"""A row of length 1 (or 0) for each text."""
ALIKE, ALIKE_BY_WORDS = 0.52, 0.55
"""The mean of the cosine and the share of common words from which two questions ask for the same; without vectors, of
that share alone. Fitted to pairs in both languages: "where did I put the passport" is "where is my passport?", "how do
I renew my passport?" is not."""


def vectors_of(embedder: Embedder | None) -> Vectors | None:
    """The vectors by an embedder; None without one."""
    if embedder is None:
        return None

    def vectors(texts: Sequence[str]) -> Floats:
        rows = np.zeros((len(texts), embedder.dimensions), dtype=np.float32)
        for at, tokens in enumerate(embedder.tokens(texts)):
            if len(tokens):
                rows[at] = embedder.vectors(tokens).sum(axis=0)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        return unit

    return vectors


@lru_cache(maxsize=16_384)
def words_in(text: str) -> frozenset[str]:
    """The terms by which the subject of a text is known: in scripts without spaces, pairs of characters. Words of time,
    numbers, and such as "find" or "again" are no subject."""
    return frozenset(filter(_is_subject, wording(text).terms))


@lru_cache(maxsize=16_384)
def _is_subject(term: str) -> bool:
    return len(term) > 1 and term not in _subjectless() and characters("subjectless_characters").isdisjoint(term)


@cache
def _subjectless() -> frozenset[str]:
    return frozenset((*CJK_STOP, *(term for word in words("subjectless") for term in terms(word))))


def overlap(one: str, other: str, vectors: Vectors | None = None) -> float:
    """How far two texts are about the same, 0 to 1: the greater of their cosine, and of the share of the shorter one's
    words that the other one has."""
    first, second = words_in(one), words_in(other)
    if not first or not second:
        return 0.0
    shared = len(first & second) / min(len(first), len(second))
    if vectors is None or not first & second:
        return shared
    rows = vectors([one, other])
    return max(shared, float(rows[0] @ rows[1]))


def pair_likeness(one: str, other: str, vectors: Vectors | None) -> float:
    """How much two texts are alike, 0 to 1: the share of all their words that they have in common; with vectors, the
    mean of that and their cosine. 0 without a common word."""
    words = [words_in(one), words_in(other)]
    if not words[0] & words[1]:
        return 0.0
    return _likeness(0, 1, words, vectors([one, other]) if vectors is not None else None)


def groups(texts: Sequence[str], vectors: Vectors | None = None, least: float | None = None) -> list[list[int]]:
    """The numbers of the texts in groups that ask for the same, in order; each text joins the group that it is most
    alike on average, so that no chain of texts joins two subjects. `least` is the likeness for that, if it is not that
    of two questions."""
    words = [words_in(text) for text in texts]
    rows = vectors(texts) if vectors is not None and texts else None
    if least is None:
        least = ALIKE_BY_WORDS if rows is None else ALIKE
    found: list[list[int]] = []
    for number, own in enumerate(words):
        rated = [(_mean_likeness(number, group, words, rows), group) for group in found]
        likeness, best = max(rated, key=lambda each: each[0], default=(0.0, []))
        if likeness >= least:
            best.append(number)
        elif own:
            found.append([number])
    return found


def core_of(texts: Sequence[str]) -> tuple[frozenset[str], float]:
    """The words that more than half of the texts have, and the share that these are of the words of a text, on average:
    the lower it is, the more of what each text asks for is its own."""
    words = [words_in(text) for text in texts]
    counts = Counter(term for each in words for term in each)
    core = frozenset(term for term, count in counts.items() if count > len(words) / 2)
    return core, sum(len(each & core) / len(each) for each in words if each) / max(1, len(words))


def _mean_likeness(one: int, group: Sequence[int], words: Sequence[frozenset[str]], rows: Floats | None) -> float:
    """How much a text is alike those of a group on average; 0 where it has a word in common with none of them."""
    if not any(words[one] & words[other] for other in group):
        return 0.0
    return sum(_likeness(one, other, words, rows) for other in group) / len(group)


def _likeness(one: int, other: int, words: Sequence[frozenset[str]], rows: Floats | None) -> float:
    shared = jaccard(words[one], words[other])
    return shared if rows is None else (shared + float(rows[one] @ rows[other])) / 2
