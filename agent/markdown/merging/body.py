"""The merge of two versions of a body, unit by unit: what each side did to a unit of the base is done to it.

A unit keeps its identity when it is edited or moved, so that a task ticked here and moved there is both. A unit deleted
on one side and changed on the other stays, changed. New units stay below the unit above them; of two that belong at one
place both are kept.

The merge of one unit that both sides have.

The order of two runs of new units that belong at one place: by the outline, by time, else by content.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from agent.dataclass import dataclass
from agent.markdown.merging.gaps import join_units, renumber
from agent.markdown.merging.matching import match_sides
from agent.markdown.merging.order import merge_order
from agent.markdown.merging.sequences import common
from agent.markdown.merging.units import PROSE, Blocks, ListItem, Unit, split_body, split_item
from agent.markdown.merging.words import merge_apart, merge_lines, merge_words, pick, segments

DONE = frozenset("xX")


@dataclass(frozen=True, slots=True)
class Merged:
    """The lines of a merged unit; `is_conflict`: they are those of the first side, which the second contradicts."""

    lines: tuple[str, ...]
    is_conflict: bool = False


def merge_unit(base: Unit | None, first: Unit, second: Unit) -> Merged:
    """The unit with both sides' changes. A task that was ticked on one side stays ticked."""
    if first.lines == second.lines or (base and base.lines == second.lines):
        return Merged(first.lines)
    if base and base.lines == first.lines:
        return Merged(second.lines)
    items = (split_item(base.text) if base else None, split_item(first.text), split_item(second.text))
    if items[1] and items[2] and first.kind == second.kind == "item":
        merged = _merge_item(items[0], items[1], items[2])
        return Merged(first.lines, True) if merged is None else Merged(tuple(merged.join().split("\n")))
    if base is None or not base.kind == first.kind == second.kind:
        return Merged(first.lines, True)
    if base.kind in PROSE:
        text = merge_words(base.text, first.text, second.text)
        return Merged(first.lines, True) if text is None else Merged(tuple(text.split("\n")))
    lines = merge_lines(base.lines, first.lines, second.lines)
    return Merged(first.lines, True) if not lines else Merged(tuple(lines))


def _merge_item(base: ListItem | None, first: ListItem, second: ListItem) -> ListItem | None:
    if base is None:
        if first.text != second.text:
            return None
        base = min(first, second, key=lambda item: (item.state or "", item.marker, item.indent))
    text = merge_words(base.text, first.text, second.text)
    if text is None or (not text and base.text):
        return None
    return ListItem(
        _pick(base.indent, first.indent, second.indent),
        _pick(base.marker, first.marker, second.marker),
        _merge_state(base.state, first.state, second.state),
        text,
    )


def _pick(base: str, first: str, second: str) -> str:
    side = pick(base, first, second)
    return (first, second)[side - 1] if side else max(first, second)


def _merge_state(base: str | None, first: str | None, second: str | None) -> str | None:
    side = pick(base, first, second)
    if side:
        return (first, second)[side - 1]
    done = [state for state in (first, second) if state is not None and state in DONE]
    return min(done) if done else max(first or "", second or "") or None


def merge_runs(one: Sequence[int], other: Sequence[int], units: dict[int, Unit]) -> list[int]:
    """Both runs in one order that does not depend on which is first; each run keeps its own order."""
    merged: list[int] = []
    while one and other:
        rank = max(units[one[0]].rank, units[other[0]].rank)
        mine, one = _above(one, rank, units)
        theirs, other = _above(other, rank, units)
        if not mine or not theirs:
            merged += mine or theirs
        elif by_time := _merge_by_time(mine, theirs, units):
            merged += by_time
        else:
            merged += sorted([mine, theirs], key=lambda run: [units[at].text for at in run])[0]
            merged += sorted([mine, theirs], key=lambda run: [units[at].text for at in run])[1]
    return [*merged, *one, *other]


def _above(run: Sequence[int], rank: int, units: dict[int, Unit]) -> tuple[list[int], Sequence[int]]:
    """The units at the beginning of a run whose rank is at least `rank`, and the rest."""
    end = next((at for at, each in enumerate(run) if units[each].rank < rank), len(run))
    return list(run[:end]), run[end:]


def _merge_by_time(one: list[int], other: list[int], units: dict[int, Unit]) -> list[int]:
    """Both runs by the times that their units begin with; empty if one of them does not begin with a time."""
    mine, theirs = _entries(one, units), _entries(other, units)
    if not mine or not theirs or len({len(time) for time, _ in mine + theirs}) != 1:
        return []
    merged: list[int] = []
    while mine and theirs:
        first = min(mine[0], theirs[0], key=lambda entry: (entry[0], [units[at].text for at in entry[1]]))
        (mine if first is mine[0] else theirs).pop(0)
        merged += first[1]
    for _, run in mine + theirs:
        merged += run
    return merged


def _entries(run: list[int], units: dict[int, Unit]) -> list[tuple[str, list[int]]]:
    """The parts of a run, each beginning with a unit with a time; empty if the first has none."""
    found: list[tuple[str, list[int]]] = []
    for at in run:
        if time := units[at].time:
            found.append((time, [at]))
        elif not found:
            return []
        else:
            found[-1][1].append(at)
    return found


LONG = 400_000
"""Characters of the three bodies together from which on they are merged in parts; moves between parts are not seen."""


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
    texts = _Texts(base, first, second)
    if len(base) + len(first) + len(second) <= LONG:
        return _settled(texts)
    parts = [_settled(_Texts(*segment)) for segment in segments(base, first, second)]
    return MergedBody("".join(part.text for part in parts), any(part.is_conflict for part in parts))


@dataclass(frozen=True)
class _Texts:
    """The three bodies, and their units when they are needed."""

    base: str
    first: str
    second: str

    @cached_property
    def blocks(self) -> tuple[Blocks, Blocks, Blocks]:
        return split_body(self.base), split_body(self.first), split_body(self.second)


def _settled(texts: _Texts) -> MergedBody:
    """The merged body; merging it again with one of its sides changes nothing."""
    base, first, second = texts.base, texts.first, texts.second
    if second in (first, base):
        return MergedBody(first)
    if first == base:
        return MergedBody(second)
    if (apart := merge_apart(base, first, second)) is not None:
        return MergedBody(apart)
    merged = _merge(*texts.blocks)
    if merged.is_conflict or _is_settled(texts, merged.text):
        return merged
    lines = merge_lines(base.split("\n"), first.split("\n"), second.split("\n"))
    if lines is not None and _is_settled(texts, "\n".join(lines)):
        return MergedBody("\n".join(lines))
    return MergedBody(first, True)


def _is_settled(texts: _Texts, text: str) -> bool:
    """True if the result stays as it is when it is merged again: equal units can stand for each other."""
    if any(merge_apart(texts.base, one, text) not in (None, text) for one in (texts.first, texts.second)):
        return False
    base, first, second = texts.blocks
    merged = split_body(text)
    pairs = [
        (side, merged) if weight(side_text) > weight(text) else (merged, side)
        for side, side_text in ((first, texts.first), (second, texts.second))
    ]
    return all(_merge(base, *pair) == MergedBody(text) for pair in pairs)


def weight(body: str) -> tuple[int, str]:
    """The body with the greater weight is the first of two."""
    return len(body), body


def _merge(base: Blocks, first: Blocks, second: Blocks) -> MergedBody:
    count = len(base.units)
    partners = match_sides(base.units, first.units, second.units)
    in_first = _ids(partners[0], count)
    in_second = _ids(partners[1], count + len(in_first))
    in_second = _same_news(first, second, in_first, in_second, count)
    merged: dict[int, tuple[str, ...]] = {}
    units: dict[int, Unit] = dict(enumerate(base.units))
    is_conflict = False
    of_first = dict(zip(in_first, first.units, strict=True))
    of_second = dict(zip(in_second, second.units, strict=True))
    for at, unit in (of_second | of_first).items():
        old = base.units[at] if at < count else None
        units[at] = unit
        if at in of_first and at in of_second:
            units[at] = _counted(old, of_first[at], of_second[at])
            found = merge_unit(old, of_first[at], of_second[at])
            merged[at], is_conflict = found.lines, is_conflict or found.is_conflict
        elif old is None or old.lines != unit.lines:
            merged[at] = unit.lines
    _keep_containers(merged, base, (in_first, first), (in_second, second))
    order = merge_order(
        range(count), in_first, in_second, merged, lambda one, other: merge_runs(one, other, units), both_move=True
    )
    sides = [(range(count), base), (in_first, first), (in_second, second)]
    text = join_units(order, renumber(order, merged, units), units, sides)
    return MergedBody(text, is_conflict)


def _counted(base: Unit | None, first: Unit, second: Unit) -> Unit:
    """The unit of the first side; its number follows the one above it unless a side has changed that."""
    one, other = first.is_counted, second.is_counted
    side = pick(base.is_counted, one, other) if base is not None else 1
    return replace(first, is_counted=(one, other)[side - 1] if base is not None else one and other)


def _keep_containers(merged: dict[int, tuple[str, ...]], base: Blocks, *sides: tuple[list[int], Blocks]) -> None:
    """Keep the heading, or the item, above what a side added to a part that the other side deleted."""
    for (ids, blocks), (others, _) in (sides, sides[::-1]):
        known = set(others)
        if known.issuperset(range(len(base.units))):
            continue
        for place, at in enumerate(ids):
            if at in merged and at not in known:
                for above in _containers(place, ids, blocks, known, len(base.units)):
                    merged.setdefault(above, base.units[above].lines)


def _containers(place: int, ids: list[int], blocks: Blocks, known: set[int], count: int) -> Iterator[int]:
    """The base's units that contain a unit of a side, as far as all between them and it is deleted on the other."""
    rank = blocks.units[place].rank
    for back in range(place - 1, -1, -1):
        at, unit = ids[back], blocks.units[back]
        if at in known:
            return
        if unit.rank < rank:
            rank = unit.rank
            if at < count and unit.kind in ("heading", "item"):
                yield at


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
