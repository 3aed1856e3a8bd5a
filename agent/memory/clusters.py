"""Texts that say the same, found among many without comparing each with each.

What the same means is `likeness`'s; what becomes of those that repeat another is left to whoever asks.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from math import ceil
from typing import TypeVar

from agent.memory.likeness import Wording, is_same

K = TypeVar("K", bound=Hashable)

_SLIPS = 2
"""Words with a slip of a letter that two texts may have and still be compared closely."""


def clusters(texts: Sequence[tuple[K, Wording]], least: float) -> Iterator[tuple[K, list[K]]]:
    """Each text that others repeat, with those others; the first of the sequence that says a thing stands for it.

    `least` is the similarity from which on two say the same. Two sets so similar share one of their rarest terms, so
    only texts that do are compared (prefix filtering).
    """
    sets = [_terms(each) for _, each in texts]
    common = Counter(term for terms in sets for term in terms)
    holders: dict[str, list[int]] = defaultdict(list)
    found: dict[int, list[K]] = {}
    for number, (key, each) in enumerate(texts):
        terms = sets[number]
        rare = sorted(terms, key=lambda term: (common[term], term))[: _prefix(len(terms), least)]
        candidates = {at for term in rare for at in holders[term]}
        near = (at for at in sorted(candidates) if _may_be_same(terms, sets[at], least))
        same = next((at for at in near if is_same(texts[at][1], each, least)), None)
        if same is not None:
            found.setdefault(same, []).append(key)
            continue
        for term in rare:
            holders[term].append(number)
    for number, others in found.items():
        yield texts[number][0], others


def _may_be_same(one: frozenset[str], other: frozenset[str], least: float) -> bool:
    """A quick look at the sizes: how much two sets must share to be so similar, words with a slip allowed for."""
    needed = least / (1 + least) * (len(one) + len(other)) - _SLIPS
    return min(len(one), len(other)) >= needed and len(one & other) >= needed


def _terms(each: Wording) -> frozenset[str]:
    return each.terms | each.numbers


def _prefix(size: int, least: float) -> int:
    return size - ceil(least * size - 1e-9) + 1 if size else 0
