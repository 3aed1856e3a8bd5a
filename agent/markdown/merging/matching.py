"""Which unit of a version is which unit of the base: the same, edited, or moved.

Equal units come first, in order; then units with the same block id or text elsewhere (moved); then similar ones
(edited). What stays without a partner is new, or was deleted.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from itertools import takewhile

from agent.dataclass import dataclass
from agent.markdown.merging.sequences import common
from agent.markdown.merging.units import Unit
from agent.markdown.merging.words import words

ALIKE = 0.5
"""The least share of common words of two units at the same place that are taken for one, edited."""
MOVED_ALIKE = 0.7
"""The same for two units at different places."""
MOST_COMPARED = 400
"""The most pairs of units in one gap that are compared by their words."""
_REWRITTEN = ("paragraph", "heading", "fence", "quote", "head")
_LONG = 20  # characters; a shorter unit that was moved and edited is not recognised


def match_sides(base: Sequence[Unit], first: Sequence[Unit], second: Sequence[Unit]) -> tuple[list[int], list[int]]:
    """For each unit of each side the index of its partner in `base`, or -1; no partner is given twice to a side.

    What both sides have in the same new words is not taken for another text rewritten, as it may be an addition.
    """
    one, other = _Match(base, first), _Match(base, second)
    for each in (one, other):
        each.equal_units()
    news = one.unmatched() & other.unmatched()
    for each in (one, other):
        each.changed_units(news)
    one.alike_units(other, news)
    other.alike_units(one, news)
    return one.found, other.found


def likeness(one: str, other: str) -> float:
    """The share of common words of two texts, from 0 to 1 (Dice's coefficient)."""
    mine, others = _counted(one), _counted(other)
    total = mine.total() + others.total()
    return 2 * (mine & others).total() / total if total else float(one == other)


def _score(one: str, other: str) -> float:
    """The likeness of two texts, more if both begin alike: of a text that was split, the first part is the text."""
    return likeness(one, other) + 0.1 * (one[:8] == other[:8] or words(one[:40])[:1] == words(other[:40])[:1])


def _counted(text: str) -> Counter[str]:
    """The words of a text, without those that are only marks."""
    return Counter(word for word in words(text) if any(map(str.isalnum, word)))


@dataclass
class _Match:
    """The partners found so far: for each unit of `side` an index in `base`, or -1; `free` are those without one."""

    base: Sequence[Unit]
    side: Sequence[Unit]
    found: list[int] = field(init=False)
    free: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self.found = [-1] * len(self.side)
        self.free = set(range(len(self.base)))

    def unmatched(self) -> set[str]:
        """The keys of the units without a partner."""
        return {unit.key for unit, at in zip(self.side, self.found, strict=True) if at < 0}

    def equal_units(self) -> None:
        """Match the units with the same block id or text."""
        self._by_block()
        left = sorted(self.free)
        mine = [at for at, partner in enumerate(self.found) if partner < 0]
        for b, s in common([self.base[at].key for at in left], [self.side[at].key for at in mine]):
            self._pair(left[b], mine[s])
        if self.free and -1 in self.found:
            self._moved()

    def changed_units(self, news: Collection[str]) -> None:
        """Match the units that were edited; `news` are texts that may be no edits."""
        if not self.free or -1 not in self.found:
            return
        for near in (True, False):
            for here, there, is_whole in list(self._gaps(near=near)):
                self._similar(here, there, ALIKE, news)
                if is_whole and not near:
                    self._rewritten(here, there, news)
        self._similar(
            [at for at in sorted(self.free) if len(self.base[at].key) >= _LONG],
            [at for at, unit in enumerate(self.side) if len(unit.key) >= _LONG],
            MOVED_ALIKE,
            news,
        )

    def alike_units(self, other: "_Match", news: Collection[str]) -> None:
        """Give a unit the partner that the other side's unit with the same new text has, if it is free."""
        texts = Counter(unit.key for unit in self.side)
        known = {unit.key: at for unit, at in zip(other.side, other.found, strict=True) if at >= 0 and unit.key in news}
        for place, unit in enumerate(self.side):
            at = known.get(unit.key, -1)
            if self.found[place] < 0 and at in self.free and texts[unit.key] == 1:
                self._pair(at, place)

    def _pair(self, at: int, place: int) -> None:
        self.found[place] = at
        self.free.discard(at)

    def _by_block(self) -> None:
        """Match the units with block ids that stand once on each side."""
        places: dict[str, list[int]] = {}
        for at, unit in enumerate(self.base):
            if unit.block:
                places.setdefault(unit.block, []).append(at)
        if not places:
            return
        counts = Counter(unit.block for unit in self.side)
        for place, unit in enumerate(self.side):
            there = places.get(unit.block, ())
            if len(there) == 1 and counts[unit.block] == 1 and self.base[there[0]].kind == unit.kind:
                self._pair(there[0], place)

    def _moved(self) -> None:
        """Match what stands elsewhere unchanged, if there is only one such unit on each side."""
        old = Counter(self.base[at].key for at in self.free)
        new = Counter(unit.key for unit, at in zip(self.side, self.found, strict=True) if at < 0)
        places = {self.base[at].key: at for at in self.free}
        for place, unit in enumerate(self.side):
            if self.found[place] < 0 and old.get(unit.key) == 1 and new[unit.key] == 1:
                self._pair(places[unit.key], place)

    def _gaps(self, *, near: bool) -> Iterator[tuple[list[int], list[int], bool]]:
        """The free units of the base and of the side between the same neighbours; and whether all there are free.

        With `near` also those that directly follow, or precede, a neighbour's partner elsewhere.
        """
        start = 0
        while start < len(self.found):
            if self.found[start] >= 0:
                start += 1
                continue
            end = next((at for at in range(start, len(self.found)) if self.found[at] >= 0), len(self.found))
            above = self.found[start - 1] if start else -1
            below = self.found[end] if end < len(self.found) else len(self.base)
            inside = range(above + 1, below)
            here = [at for at in inside if at in self.free]
            is_whole = 0 < len(here) == len(inside)
            if near and not is_whole:
                down = takewhile(self.free.__contains__, range(above + 1, len(self.base)))
                here = sorted({*down, *takewhile(self.free.__contains__, range(below - 1, -1, -1))})
            if here:
                yield here, list(range(start, end)), is_whole
            start = end

    def _similar(self, here: Sequence[int], there: Sequence[int], least: float, news: Collection[str]) -> None:
        """Match the similar units, best first, and what may be new last."""
        here = [at for at in here if at in self.free]
        there = [at for at in there if self.found[at] < 0]
        if not here or not there or len(here) * len(there) > MOST_COMPARED:
            return
        base, side = self.base, self.side
        scores = sorted(
            (side[s].key in news, -score, b, s)
            for b in here
            for s in there
            if base[b].kind == side[s].kind and (score := _score(base[b].key, side[s].key)) >= least
        )
        for _, _, b, s in scores:
            if b in self.free and self.found[s] < 0:
                self._pair(b, s)

    def _rewritten(self, here: Sequence[int], there: Sequence[int], news: Collection[str]) -> None:
        """Match two units of one kind that are alone between two equal ones, whatever they say."""
        for kind in _REWRITTEN:
            old = [at for at in here if at in self.free and self.base[at].kind == kind]
            new = [at for at in there if self.found[at] < 0 and self.side[at].kind == kind]
            if len(old) == len(new) == 1 and self.side[new[0]].key not in news:
                self._pair(old[0], new[0])
