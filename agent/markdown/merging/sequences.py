"""The longest common subsequence of two sequences, and the chunks of a three-way comparison."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T", bound=object)
MOST_PAIRS = 200_000
"""The most equal pairs that are compared; above it, items that occur often are left out."""


class Chunk(NamedTuple):
    """A part of three sequences, as index ranges. `is_stable`: one item, equal in all three."""

    base: slice
    first: slice
    second: slice
    is_stable: bool


def common(one: Sequence[T], other: Sequence[T]) -> list[tuple[int, int]]:
    """The index pairs of a longest common subsequence, ascending (Hunt and Szymanski 1977)."""
    size = min(len(one), len(other))
    head = 0
    while head < size and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < size - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    pairs = [(at, at) for at in range(head)]
    if head + tail < size:
        pairs += _middle(one, other, head, tail)
    pairs += [(len(one) - at, len(other) - at) for at in range(tail, 0, -1)]
    return _leftmost(pairs, other)


def _leftmost(pairs: list[tuple[int, int]], other: Sequence[T]) -> list[tuple[int, int]]:
    """The pairs, each with the first of several equal items of `other`: the choice must not depend on what follows."""
    found: list[tuple[int, int]] = []
    start = 0
    for at, there in pairs:
        item = other[there]
        while other[start] != item:
            start += 1
        found.append((at, start))
        start += 1
    return found


def _middle(one: Sequence[T], other: Sequence[T], head: int, tail: int) -> list[tuple[int, int]]:
    places: dict[T, list[int]] = {}
    for at in range(len(other) - tail - 1, head - 1, -1):
        places.setdefault(other[at], []).append(at)
    inner = range(head, len(one) - tail)
    if sum(len(places.get(one[at], ())) for at in inner) > MOST_PAIRS:
        places = {item: found for item, found in places.items() if len(found) == 1}
    ends: list[int] = []
    links: list[tuple[int, int, object]] = []
    for at in inner:
        for there in places.get(one[at], ()):
            length = bisect_left(ends, there)
            link = (at, there, links[length - 1] if length else None)
            if length == len(ends):
                ends.append(there)
                links.append(link)
            else:
                ends[length], links[length] = there, link
    found: list[tuple[int, int]] = []
    last: object = links[-1] if links else None
    while isinstance(last, tuple):
        found.append((last[0], last[1]))
        last = last[2]
    return found[::-1]


def increasing(numbers: Sequence[int]) -> set[int]:
    """The members of a longest increasing subsequence of distinct numbers."""
    return {number for number, _ in common(sorted(numbers), numbers)}


def chunks(base: Sequence[T], first: Sequence[T], second: Sequence[T]) -> Iterator[Chunk]:
    """The parts of a three-way comparison in order; between two stable items at least one side has changed."""
    in_first, in_second = dict(common(base, first)), dict(common(base, second))
    b = f = s = 0
    for at in range(len(base)):
        if at not in in_first or at not in in_second:
            continue
        to_f, to_s = in_first[at], in_second[at]
        if (b, f, s) != (at, to_f, to_s):
            yield Chunk(slice(b, at), slice(f, to_f), slice(s, to_s), False)
        b, f, s = at + 1, to_f + 1, to_s + 1
        yield Chunk(slice(at, b), slice(to_f, f), slice(to_s, s), True)
    if (b, f, s) != (len(base), len(first), len(second)):
        yield Chunk(slice(b, len(base)), slice(f, len(first)), slice(s, len(second)), False)
