"""Puts merged units together: with the blank lines that stood between them, and with the numbers of their lists."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from agent.markdown.blocks import columns
from agent.markdown.merging.units import Blocks, Unit
from agent.markdown.merging.words import pick

_START, _END = -1, -2
Gap: TypeAlias = tuple[str, ...]
Pairs: TypeAlias = dict[tuple[int, int], Gap]
_LOOSE = frozenset({"heading", "fence", "head", "other"})


class _Edge(NamedTuple):
    """The blank lines at the top or the end of a body; `is_closed`: the last line ends with a line feed."""

    is_closed: bool
    gap: Gap


def join_units(
    order: Sequence[int],
    lines: Mapping[int, tuple[str, ...]],
    units: Mapping[int, Unit],
    sides: Sequence[tuple[Sequence[int], Blocks]],
) -> str:
    """The text of the units in this order; `sides` are the ids and blocks of the base, the first and the second."""
    pairs = [_pairs(ids, blocks) for ids, blocks in sides]
    before = {other: gap for (_, other), gap in pairs[0].items()}
    around = _around(pairs[1:])
    top, end = (_merged([of(blocks) for _, blocks in sides]) for of in (_top, _end))
    text: list[str] = []
    above = _START
    for at in order:
        known = (pairs[0].get((above, at), before.get(at)), pairs[1].get((above, at)), pairs[2].get((above, at)))
        gap = top.gap if above == _START else _known(*known)
        text += _new_gap(above, at, around, units) if gap is None else gap
        text += lines.get(at, ())
        above = at
    text += end.gap
    return "\n".join(text) + ("\n" if end.is_closed and text else "")


def _pairs(ids: Sequence[int], blocks: Blocks) -> Pairs:
    """The blank lines between each unit and the next."""
    return dict(zip(zip((_START, *ids), (*ids, _END), strict=True), blocks.gaps, strict=True))


def _known(base: Gap | None, first: Gap | None, second: Gap | None) -> Gap | None:
    """The gap between two units that are neighbours on a side; None if they are on none."""
    if first is None or second is None:
        return second if first is None else first
    side = pick(base, first, second)
    return (first, second)[side - 1] if side else max(first, second, key=lambda gap: (len(gap), gap))


def _around(sides: Sequence[Pairs]) -> tuple[dict[int, Gap], dict[int, Gap]]:
    """The longest gap above and below each unit on the sides that have it."""
    above: dict[int, Gap] = {}
    below: dict[int, Gap] = {}
    for pairs in sides:
        for (one, other), gap in pairs.items():
            above[other] = max(above.get(other, ()), gap, key=lambda lines: (len(lines), lines))
            below[one] = max(below.get(one, ()), gap, key=lambda lines: (len(lines), lines))
    return above, below


def _new_gap(one: int, other: int, around: tuple[dict[int, Gap], dict[int, Gap]], units: Mapping[int, Unit]) -> Gap:
    """The blank lines between two units that are neighbours only now."""
    above, below = around[0].get(other, ()), around[1].get(one, ())
    pair = units[one].kind, units[other].kind
    if pair in (("item", "item"), ("row", "row"), ("head", "row")):
        return min(above, below, key=lambda lines: (len(lines), lines))
    gap = max(above, below, key=lambda lines: (len(lines), lines))
    return gap if gap or _LOOSE.intersection(pair) and pair[1] != "head" else ("",)


def _top(blocks: Blocks) -> _Edge | None:
    """The blank lines above the first unit; None if there is none."""
    return _Edge(True, blocks.gaps[0]) if blocks.units else None


def _end(blocks: Blocks) -> _Edge | None:
    """The blank lines below the last unit; None for an empty body."""
    return None if blocks.final is None else _Edge(blocks.final, blocks.gaps[-1])


def _merged(edges: Sequence[_Edge | None]) -> _Edge:
    """The edge with both sides' changes, whichever unit stands at it: the same when it is merged again."""
    base, first, second = edges
    if first is None or second is None:
        return first or second or _Edge(False, ())
    side = pick(base, first, second)
    return (first, second)[side - 1] if side else max(first, second)


_NUMBERED = re.compile(r"([ \t]*)([0-9]{1,9})(?=[.)])")


def renumber(
    order: Sequence[int], lines: Mapping[int, tuple[str, ...]], units: Mapping[int, Unit]
) -> Mapping[int, tuple[str, ...]]:
    """The lines of the units, with the numbers of numbered items in sequence; lists that have others keep theirs."""
    changed: dict[int, tuple[str, ...]] = {}
    above: dict[int, int] = {}
    for at in order:
        if units[at].kind != "item":
            if units[at].kind != "code":
                above.clear()
            continue
        first, *rest = lines[at]
        width = columns(first)
        for deeper in [each for each in above if each > width]:
            del above[deeper]
        found = _NUMBERED.match(first)
        if found is None:
            above.pop(width, None)
            continue
        number = int(found[2])
        if units[at].is_counted and width in above and number != above[width] + 1:
            number = above[width] + 1
            changed[at] = (f"{found[1]}{number}{first[found.end() :]}", *rest)
        above[width] = number
    return {**lines, **changed} if changed else lines
