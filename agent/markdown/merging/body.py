"""The merge of two versions of a body, unit by unit: what each side did to a unit of the base is done to it.

A unit keeps its identity when it is edited or moved, so that a task ticked here and moved there is both. A unit deleted
on one side and changed on the other stays, changed. New units stay below the unit above them; of two that belong at one
place both are kept.
"""

from dataclasses import dataclass

from agent.markdown.merging.contents import merge_unit
from agent.markdown.merging.gaps import join_units
from agent.markdown.merging.matching import match_sides
from agent.markdown.merging.order import merge_order
from agent.markdown.merging.runs import merge_runs
from agent.markdown.merging.sequences import common
from agent.markdown.merging.units import Blocks, Unit, split_body
from agent.markdown.merging.words import merge_lines


@dataclass(frozen=True, slots=True)
class MergedBody:
    """`is_conflict`: something that the second version says is not in `text`."""

    text: str
    is_conflict: bool = False


def merge_bodies(base: str, first: str, second: str) -> MergedBody:
    """The merged body; `first` wins where they contradict each other."""
    if second in (first, base):
        return MergedBody(first)
    if first == base:
        return MergedBody(second)
    blocks = split_body(base), split_body(first), split_body(second)
    merged = _merge(*blocks)
    if merged.is_conflict or _is_settled(blocks, merged.text):
        return merged
    lines = merge_lines(base.split("\n"), first.split("\n"), second.split("\n"))
    if lines is not None and _is_settled(blocks, "\n".join(lines)):
        return MergedBody("\n".join(lines))
    return MergedBody(first, True)


def _is_settled(blocks: tuple[Blocks, Blocks, Blocks], text: str) -> bool:
    """True if merging the result with one of its sides again changes nothing: equal units can stand for each other."""
    base, first, second = blocks
    merged = split_body(text)
    wanted = MergedBody(text)
    return _merge(base, merged, second) == wanted == _merge(base, first, merged)


def _merge(base: Blocks, first: Blocks, second: Blocks) -> MergedBody:
    count = len(base.units)
    partners = match_sides(base.units, first.units, second.units)
    in_first = _ids(partners[0], count)
    in_second = _ids(partners[1], count + len(in_first))
    in_second = _same_news(first, second, in_first, in_second, count)
    merged: dict[int, tuple[str, ...]] = {}
    units: dict[int, Unit] = {}
    is_conflict = False
    of_first = dict(zip(in_first, first.units, strict=True))
    of_second = dict(zip(in_second, second.units, strict=True))
    for at, unit in (of_second | of_first).items():
        old = base.units[at] if at < count else None
        units[at] = unit
        if at in of_first and at in of_second:
            found = merge_unit(old, of_first[at], of_second[at])
            merged[at], is_conflict = found.lines, is_conflict or found.is_conflict
        elif old is None or old.lines != unit.lines:
            merged[at] = unit.lines
    order = merge_order(
        range(count), in_first, in_second, merged, lambda one, other: merge_runs(one, other, units), both_move=True
    )
    text = join_units(order, merged, units, [(range(count), base), (in_first, first), (in_second, second)])
    return MergedBody(text, is_conflict)


def _ids(partners: list[int], new: int) -> list[int]:
    """The partners, with a number of its own (from `new` on) for each unit without one."""
    return [at if at >= 0 else new + place for place, at in enumerate(partners)]


def _same_news(first: Blocks, second: Blocks, in_first: list[int], in_second: list[int], count: int) -> list[int]:
    """The numbers of the second's units, where a new unit that the first has too, at the same place, has its number."""
    shared = set(in_first) & set(in_second)
    groups = [_new_by_place(ids, shared, count) for ids in (in_first, in_second)]
    result = list(in_second)
    for place, theirs in groups[1].items():
        mine = groups[0].get(place, [])
        keys = [first.units[at].key for at in mine], [second.units[at].key for at in theirs]
        for f, s in common(*keys):
            result[theirs[s]] = in_first[mine[f]]
    return result


def _new_by_place(ids: list[int], shared: set[int], count: int) -> dict[int, list[int]]:
    """The indexes of the new units, by the unit above them that both sides have (-1: none)."""
    found: dict[int, list[int]] = {}
    above = -1
    for place, at in enumerate(ids):
        if at in shared:
            above = at
        elif at >= count:
            found.setdefault(above, []).append(place)
    return found
