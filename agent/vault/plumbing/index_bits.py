"""Sets of numbers as git's compressed bitmaps (EWAH), the form in which a split index names entries of its base.

The format is that of gitformat-bitmap(5), "Appendix A": words of 64 bits, in runs of equal words and literal ones.
"""

from collections.abc import Collection, Iterator
from itertools import groupby
from struct import Struct

_HEAD, _WORD, _TAIL = Struct(">II"), Struct(">Q"), Struct(">I")
_MOST_SAME, _MOST_LITERAL = (1 << 32) - 1, (1 << 31) - 1


def parse_bits(data: bytes, at: int = 0) -> tuple[frozenset[int], int]:
    """The numbers in a bitmap that begins at `at`, and where it ends; raises `ValueError` or `struct.error`."""
    _, count = _HEAD.unpack_from(data, at)
    at += _HEAD.size
    words = [word for (word,) in _WORD.iter_unpack(data[at : at + count * _WORD.size])]
    if len(words) != count:
        raise ValueError("the bitmap is cut off")
    found, first, position = set[int](), 0, 0
    while position < count:
        mark = words[position]
        same, literal = mark >> 1 & _MOST_SAME, mark >> 33
        if mark & 1:
            found.update(range(first, first + 64 * same))
        first += 64 * same
        for word in words[position + 1 : position + 1 + literal]:
            found.update(first + bit for bit in range(64) if word >> bit & 1)
            first += 64
        position += 1 + literal
    return frozenset(found), at + count * _WORD.size + _TAIL.size


def format_bits(numbers: Collection[int]) -> bytes:
    """The bitmap of these numbers."""
    words, last = [0], 0
    for same, literals in _runs(numbers):
        for start in range(0, max(len(literals), 1), _MOST_LITERAL):
            last = len(words) - 1 if words == [0] and not start else len(words)
            part = literals[start : start + _MOST_LITERAL]
            mark = (0 if start else same << 1) | len(part) << 33
            words[last:] = [mark, *part]
    size = max(numbers, default=-1) + 1
    body = b"".join(map(_WORD.pack, words))
    return _HEAD.pack(size, len(words)) + body + _TAIL.pack(last)


def _runs(numbers: Collection[int]) -> Iterator[tuple[int, list[int]]]:
    """Pairs of a number of empty words and the literal words after them."""
    words: dict[int, int] = {}
    for number in numbers:
        words[number // 64] = words.get(number // 64, 0) | 1 << number % 64
    expected = 0
    for _, run in groupby(enumerate(sorted(words)), lambda pair: pair[1] - pair[0]):
        places = [place for _, place in run]
        yield places[0] - expected, [words[place] for place in places]
        expected = places[-1] + 1
