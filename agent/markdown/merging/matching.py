"""Which unit of a version is which unit of the base: the same, edited, or moved.

Equal units come first, in order; then units with the same block id or text elsewhere (moved); then similar ones
(edited). What stays without a partner is new, or was deleted.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile

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
    found = [_match_equal(base, side) for side in (first, second)]
    left = [{unit.key for unit, at in zip(side, here, strict=True) if at < 0} for side, here in
            zip((first, second), found, strict=True)]  # fmt: skip
    for side, here in zip((first, second), found, strict=True):
        _match_changed(base, side, here, left[0] & left[1])
    _match_alike(first, second, found[0], found[1], left[0] & left[1])
    _match_alike(second, first, found[1], found[0], left[0] & left[1])
    return found[0], found[1]


def _match_alike(
    side: Sequence[Unit], other: Sequence[Unit], found: list[int], known: list[int], news: Collection[str]
) -> None:
    """Give a unit the partner that the other side's unit with the same new text has, if it is free."""
    texts = Counter(unit.key for unit in side)
    partners = {unit.key: at for unit, at in zip(other, known, strict=True) if at >= 0 and unit.key in news}
    for place, unit in enumerate(side):
        at = partners.get(unit.key, -1)
        if found[place] < 0 <= at and texts[unit.key] == 1 and at not in found:
            found[place] = at


def _match_equal(base: Sequence[Unit], side: Sequence[Unit]) -> list[int]:
    """The partners of the units with the same block id or text."""
    found = [-1] * len(side)
    free = _by_block(base, side, found)
    left = [at for at in range(len(base)) if at in free]
    mine = [at for at in range(len(side)) if found[at] < 0]
    for b, s in common([base[at].key for at in left], [side[at].key for at in mine]):
        found[mine[s]] = left[b]
        free.discard(left[b])
    if free and -1 in found:
        _moved(base, side, found, free)
    return found


def _match_changed(base: Sequence[Unit], side: Sequence[Unit], found: list[int], news: Collection[str]) -> None:
    """Add the partners of units that were edited; `news` are texts that are no edits."""
    free = set(range(len(base))).difference(found)
    if not free or -1 not in found:
        return
    for near in (True, False):
        for here, there, is_whole in list(_gaps(found, free, len(base), near=near)):
            _edited(base, side, here, there, found, free, news if is_whole and not near else None)
    _moved_and_edited(base, side, found, free)


def likeness(one: str, other: str) -> float:
    """The share of common words of two texts, from 0 to 1 (Dice's coefficient)."""
    mine, others = _counted(one), _counted(other)
    total = mine.total() + others.total()
    return 2 * (mine & others).total() / total if total else float(one == other)


def _counted(text: str) -> Counter[str]:
    """The words of a text, without those that are only marks."""
    return Counter(word for word in words(text) if any(map(str.isalnum, word)))


def _by_block(base: Sequence[Unit], side: Sequence[Unit], found: list[int]) -> set[int]:
    """Match the units with block ids that stand once on each side; returns the indexes in `base` that are free."""
    free = set(range(len(base)))
    places: dict[str, list[int]] = {}
    for at, unit in enumerate(base):
        if unit.block:
            places.setdefault(unit.block, []).append(at)
    if places:
        counts = Counter(unit.block for unit in side)
        for at, unit in enumerate(side):
            there = places.get(unit.block, ())
            if len(there) == 1 and counts[unit.block] == 1 and base[there[0]].kind == unit.kind:
                found[at] = there[0]
                free.discard(there[0])
    return free


def _moved(base: Sequence[Unit], side: Sequence[Unit], found: list[int], free: set[int]) -> None:
    """Match what stands elsewhere unchanged, if there is only one such unit on each side."""
    ours = Counter(base[at].key for at in free)
    mine = Counter(side[at].key for at in range(len(side)) if found[at] < 0)
    places = {base[at].key: at for at in free}
    for at, unit in enumerate(side):
        if found[at] < 0 and ours.get(unit.key) == 1 and mine[unit.key] == 1:
            found[at] = places[unit.key]
            free.discard(found[at])


def _gaps(found: list[int], free: set[int], size: int, *, near: bool) -> Iterator[tuple[list[int], list[int], bool]]:
    """The free units of the base and of the side between the same neighbours; and whether all there are free.

    With `near` those of the base are only the ones that directly follow, or precede, a neighbour's partner.
    """
    start = 0
    while start < len(found):
        if found[start] >= 0:
            start += 1
            continue
        end = start
        while end < len(found) and found[end] < 0:
            end += 1
        above = found[start - 1] if start else -1
        below = found[end] if end < len(found) else size
        inside = range(above + 1, below)
        here = [at for at in inside if at in free]
        is_whole = 0 < len(here) == len(inside)
        if near and not is_whole:
            down = list(takewhile(free.__contains__, range(above + 1, size)))
            up = list(takewhile(free.__contains__, range(below - 1, -1, -1)))
            here = sorted({*down, *up})
        if here:
            yield here, list(range(start, end)), is_whole
        start = end


def _edited(
    base: Sequence[Unit],
    side: Sequence[Unit],
    here: list[int],
    there: list[int],
    found: list[int],
    free: set[int],
    news: Collection[str] | None,
) -> None:
    """Match the similar units of a gap, best first; and with `news` two of one kind that are alone in it."""
    here, there = [at for at in here if at in free], [at for at in there if found[at] < 0]
    if len(here) * len(there) <= MOST_COMPARED:
        _match_similar(base, side, here, there, found, free, ALIKE)
    for kind in _REWRITTEN if news is not None else ():
        old = [at for at in here if at in free and base[at].kind == kind]
        new = [at for at in there if found[at] < 0 and side[at].kind == kind]
        if len(old) == len(new) == 1 and side[new[0]].key not in (news or ()):
            found[new[0]] = old[0]
            free.discard(old[0])


def _match_similar(
    base: Sequence[Unit],
    side: Sequence[Unit],
    here: list[int],
    there: list[int],
    found: list[int],
    free: set[int],
    least: float,
) -> None:
    scores = sorted(
        (-score, b, s)
        for b in here
        for s in there
        if base[b].kind == side[s].kind and (score := likeness(base[b].key, side[s].key)) >= least
    )
    for _, b, s in scores:
        if b in free and found[s] < 0:
            found[s] = b
            free.discard(b)


def _moved_and_edited(base: Sequence[Unit], side: Sequence[Unit], found: list[int], free: set[int]) -> None:
    here = [at for at in sorted(free) if len(base[at].key) >= _LONG]
    there = [at for at in range(len(side)) if found[at] < 0 and len(side[at].key) >= _LONG]
    if not here or not there or len(here) * len(there) > MOST_COMPARED:
        return
    _match_similar(base, side, here, there, found, free, MOVED_ALIKE)
