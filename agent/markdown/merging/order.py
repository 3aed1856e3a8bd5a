"""The merged order of two sequences that come from one: both sides' moves, and both sides' new items."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

from agent.markdown.merging.sequences import increasing

T = TypeVar("T", bound=Hashable)


def merge_order(
    base: Sequence[T],
    first: Sequence[T],
    second: Sequence[T],
    alive: Collection[T],
    runs: Callable[[list[T], list[T]], list[T]],
    *,
    both_move: bool = False,
) -> list[T]:
    """The items of `alive` once each; a new item stays below the item above it. No sequence has an item twice.

    `runs` puts two runs of new items that belong at one place into one. If both sides moved items, the order of one of
    them counts; with `both_move` the other's moves are made in it, of items that it has not moved.
    """
    rank = {item: at for at, item in enumerate(base)}
    first, second = _agreed(rank, first, second)
    in_first, in_second = set(first), set(second)
    by_first = [rank[item] for item in first if item in rank and item in in_second]
    by_second = [rank[item] for item in second if item in rank and item in in_first]
    moved: list[T] = []
    if by_first != by_second and by_first == sorted(by_first):
        first, second, in_first, in_second = second, first, in_second, in_first
    elif by_first != by_second and by_second != sorted(by_second):
        if by_second < by_first:
            first, second, in_first, in_second = second, first, in_second, in_first
            by_first, by_second = by_second, by_first
        still_first, still_second = increasing(by_first), increasing(by_second)
        moved = [base[at] for at in by_second if at not in still_second and at in still_first] if both_move else []
    order = [item for item in first if item in alive]
    for item in moved:
        _move(order, item, second, in_second)
    return _with_new(order, second, alive, in_second, runs)


def _agreed(rank: Mapping[T, int], first: Sequence[T], second: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """The sequences with what is new on both sides at one place: the upper one, whichever side that is."""
    new = [item for item in first if item not in rank]
    shared = set(new).intersection(second)
    if not shared:
        return first, second
    anchors = [_anchors(side, shared, rank, set(other)) for side, other in ((first, second), (second, first))]
    drop_first = {item for item in shared if anchors[0][item] > anchors[1][item]}
    drop_second = {item for item in shared if anchors[0][item] < anchors[1][item]}
    for anchor in set(anchors[0].values()):
        group = {item for item in shared if anchors[0][item] == anchors[1][item] == anchor}
        orders = [[item for item in side if item in group] for side in (first, second)]
        if orders[0] != orders[1]:
            chosen = min(orders)
            first, second = (_put_in_order(side, chosen) for side in (first, second))
    return [item for item in first if item not in drop_first], [item for item in second if item not in drop_second]


def _anchors(side: Sequence[T], shared: set[T], rank: Mapping[T, int], other: set[T]) -> dict[T, int]:
    """For each shared new item the place in the base of the item above it that both sides have; -1 for none."""
    found: dict[T, int] = {}
    above = -1
    for item in side:
        if item in shared:
            found[item] = above
        elif item in rank and item in other:
            above = rank[item]
    return found


def _put_in_order(side: Sequence[T], chosen: Sequence[T]) -> list[T]:
    """`side` with the items of `chosen` in that order."""
    rest = iter(chosen)
    return [next(rest) if item in chosen else item for item in side]


def _move(order: list[T], item: T, second: Sequence[T], in_second: set[T]) -> None:
    """Move an item of `order` to below the one that it follows in `second`."""
    if item not in order:
        return
    present = set(order)
    above = [each for each in second[: second.index(item)] if each in present]
    at = order.index(item)
    before = next((each for each in reversed(order[:at]) if each in in_second), None)
    if before == (above[-1] if above else None):
        return
    order.remove(item)
    order.insert(order.index(above[-1]) + 1 if above else 0, item)


def _with_new(
    order: list[T],
    second: Sequence[T],
    alive: Collection[T],
    in_second: set[T],
    runs: Callable[[list[T], list[T]], list[T]],
) -> list[T]:
    """`order` with the items that only `second` has."""
    present = set(order)
    new: dict[T | None, list[T]] = {}
    above: T | None = None
    for item in second:
        if item in present:
            above = item
        elif item in alive:
            new.setdefault(above, []).append(item)
    if not new:
        return order
    merged: list[T] = []
    waiting = new.get(None, [])
    run: list[T] = []
    for item in order:
        if item not in in_second:
            run.append(item)
            continue
        merged += runs(run, waiting) if run and waiting else [*run, *waiting]
        merged.append(item)
        run, waiting = [], new.get(item, [])
    return merged + (runs(run, waiting) if run and waiting else [*run, *waiting])
