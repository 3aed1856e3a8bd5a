"""Texts that say the same, found among many without comparing each with each.

What the same means is `likeness`'s; what becomes of those that repeat another is left to whoever asks.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TypeVar

from agent.memory.understanding.similarity import LOOSE, Wording, is_same

K = TypeVar("K", bound=Hashable)

_SLIPS = 2
"""Words with a slip of a letter that two texts may have and still be compared closely."""
_COMMON = 64
"""Texts from which on those that hold a term are the bits of one number instead of a list."""
_MANY = 32
"""Candidates from which on their shared terms are counted for all of them at once."""


def clusters(texts: Sequence[tuple[K, Wording]], least: float) -> Iterator[tuple[K, list[K]]]:
    """Each text that others repeat, with those others; the first of the sequence that says a thing stands for it.

    `least` is the similarity from which on two say the same. Two sets so similar share one of their rarest terms, so
    only texts that do are compared (prefix filtering).
    """
    sets = [each.terms | each.numbers for _, each in texts]
    common = Counter(term for terms in sets for term in terms)
    rank = {term: at for at, term in enumerate(sorted(common, key=lambda term: (common[term], term)))}
    seen = _Seen(common, least)
    found: dict[int, list[K]] = {}
    for number, (key, each) in enumerate(texts):
        terms = sets[number]
        rare = sorted(terms, key=rank.__getitem__)[: _prefix(len(terms), least)]
        near = (at for at in seen.sharing(terms, rare) if _may_be_same(terms, sets[at], least))
        same = next((at for at in near if is_same(texts[at][1], each, least)), None)
        if same is not None:
            found.setdefault(same, []).append(key)
            continue
        seen.add(number, terms, rare)
    for number, others in found.items():
        yield texts[number][0], others


@dataclass(slots=True)
class _Seen:
    """Texts by number, and by their terms; `common` tells how many texts there are with each term, seen or not.

    A set of texts is a number with their bits set, so that a question about all of them is a few operations on long
    integers; where a term is in few texts, it is a list.
    """

    common: Counter[str]
    least: float
    few: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    rarest: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    anywhere: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    sizes: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, number: int, terms: frozenset[str], rare: Sequence[str]) -> None:
        """Take in a text with these terms, of which `rare` are its rarest."""
        bit = 1 << number
        self.sizes[len(terms)] |= bit
        for term in terms:
            if self.common[term] >= _COMMON:
                self.anywhere[term] |= bit
        for term in rare:
            if self.common[term] >= _COMMON:
                self.rarest[term] |= bit
            elif self.common[term] > 1:
                self.few[term].append(number)

    def sharing(self, terms: frozenset[str], rare: Sequence[str]) -> list[int]:
        """The texts that share one of their rarest terms with a text, in order; of many, those that may be like it."""
        found = {at for term in rare if term in self.few for at in self.few[term]}
        bits = 0
        for term in rare:
            bits |= self.rarest.get(term, 0)
        if bits.bit_count() >= _MANY:
            bits = self._alike(bits, terms)
        return sorted(found.union(_places(bits))) if bits else sorted(found)

    def _alike(self, bits: int, terms: frozenset[str]) -> int:
        """Those of the texts that share as many terms as a text of their size must; a few that do not may be left."""
        columns = _sums([self.anywhere[term] for term in terms if term in self.anywhere])
        uncounted = sum(1 < self.common[term] < _COMMON for term in terms)
        slips = _SLIPS if any(len(term) >= LOOSE for term in terms) else 0
        enough: dict[int, int] = {}
        found = 0
        for size, of_size in self.sizes.items():
            needed = ceil(_needed(len(terms), size, self.least, slips) - 1e-6)
            if needed > min(size, len(terms)) or not (of_size := of_size & bits):
                continue
            needed -= uncounted
            if needed not in enough:
                enough[needed] = _at_least(columns, needed) if needed > 0 else -1
            found |= of_size & enough[needed]
        return found


def _sums(columns: list[int]) -> list[int]:
    """How many of the columns have each bit set: the bits of the sums, the lowest first (carry-save addition)."""
    sums: list[int] = []
    while columns:
        carried: list[int] = []
        while len(columns) > 1:
            one, other, third = columns.pop(), columns.pop(), columns.pop() if columns else 0
            either = one ^ other
            columns.append(either ^ third)
            carried.append(one & other | either & third)
        sums += columns
        columns = carried
    return sums


def _at_least(sums: Sequence[int], least: int) -> int:
    """The bits whose sum is `least` (over 0) or more."""
    more, equal = 0, -1
    for at in range(max(len(sums), least.bit_length()) - 1, -1, -1):
        column = sums[at] if at < len(sums) else 0
        if least >> at & 1:
            equal &= column
        else:
            more |= equal & column
            equal &= ~column
    return more | equal


def _places(bits: int) -> Iterator[int]:
    """Which bits are set, the lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _may_be_same(one: frozenset[str], other: frozenset[str], least: float) -> bool:
    """A quick look at the sizes: how much two sets must share to be so similar, words with a slip allowed for."""
    needed = _needed(len(one), len(other), least, _SLIPS)
    return min(len(one), len(other)) >= needed and len(one & other) >= needed


def _needed(one: int, other: int, least: float, slips: int) -> float:
    """How many terms sets of these sizes must share to be so similar, but for so many words with a slip."""
    return least / (1 + least) * (one + other) - slips


def _prefix(size: int, least: float) -> int:
    return size - ceil(least * size - 1e-9) + 1 if size else 0
