"""Finds what may be nearest among very many vectors by the signs of their dimensions: 32 bytes for 256 dimensions.

A sign says on which side of the `middle` a vector is in one dimension. The passages of a vault share a large direction,
and by signs about zero they look alike. The middle is their mean, roughly, and depends on the vectors that are there
alone: an index that grew has the signs of one that was built at once.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agent.index.arrays import Floats

Signs: TypeAlias = Sequence[NDArray[np.uint64]]
"""The signs of many vectors: array `w` holds dimensions 64 `w` to 64 `w` + 63 of all, one bit each."""
Middle: TypeAlias = NDArray[np.int8]
"""The value in each dimension, in the units of `small_rows`, above which its bit is set."""
Places: TypeAlias = NDArray[np.uint32]
NONE_GONE: Places = np.zeros(0, np.uint32)
_SCALE = np.float32(127)
_LEVEL = 8
"""The middle is the mean, rounded to a multiple of this, of 127. Of saves that replace three chunks, one of 40 moves
the middle of 30,000 chunks, and none of 4,000 that of 150,000."""
_MOST = 127 // _LEVEL
_SHARED = np.float32(0.7)
"""How much of the middle is taken from the question, which shares less of it: it is shorter than the passages. Of the
10 nearest of a million, .991 are among 10,500 chosen so, .983 with all of the middle and .964 with nothing of it."""
_UNSURE = 0.4
"""The share of the dimensions that are not compared by sign: those in which the question is nearest to the middle."""
_BLOCK = 1 << 14
"""Vectors compared together: their signs stay in the processor's cache."""
TIED = 8
"""Factor on the wanted number, for what is equally near; more of it are copies of one template."""


def sign_words(dimensions: int) -> int:
    """The number of 64-bit words that hold one vector's signs."""
    return -(-dimensions // 64)


def pack_signs(is_set: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """For each row of truth values its words, one bit for each value."""
    packed = np.packbits(is_set, axis=1)
    whole = np.zeros((len(is_set), sign_words(is_set.shape[1]) * 8), np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view(np.uint64)


def middle_of(sums: NDArray[np.int64], count: int, exact: int) -> Middle:
    """The middle of `count` small rows, given the sum of each dimension; zeros if they are at most `exact`.

    So few are all compared in full, and their mean changes too often.
    """
    if count <= exact:
        return np.zeros(len(sums), np.int8)
    levels = (2 * sums + _LEVEL * count) // (2 * _LEVEL * count)
    middle: Middle = (_LEVEL * np.clip(levels, -_MOST, _MOST)).astype(np.int8)
    return middle


def nearest_by_signs(
    signs: Signs, middle: Middle, vector: Floats, wanted: int, gone: Places = NONE_GONE
) -> NDArray[np.intp]:
    """The places of the `wanted` vectors that differ from `vector` in the fewest signs, and of those that tie with the
    last of them, at most eight times as many; without those that are `gone`."""
    if len(signs[0]) - len(gone) <= wanted:
        return np.delete(np.arange(len(signs[0])), gone)
    away = vector * _SCALE - middle * _SHARED
    size = np.abs(away)
    left_out = int(len(size) * _UNSURE)
    (compared,) = pack_signs((size >= np.partition(size, left_out)[left_out])[None])
    (asked,) = pack_signs((away > 0)[None])
    apart = _differences(signs, asked, compared)
    apart[gone] = np.iinfo(apart.dtype).max  # more than there are dimensions that are compared
    low, high = 0, len(vector)
    while low < high:
        between = (low + high) // 2
        if np.count_nonzero(apart <= between) >= wanted:
            high = between
        else:
            low = between + 1
    found = np.flatnonzero(apart <= low)
    if len(found) <= wanted * TIED:
        return found
    return np.concatenate([np.flatnonzero(apart < low), np.flatnonzero(apart == low)])[: wanted * TIED]


def _differences(
    signs: Signs, asked: NDArray[np.uint64], compared: NDArray[np.uint64]
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """In how many of the compared dimensions each vector's sign is not the asked one."""
    most = int(np.bitwise_count(compared).sum())
    apart: NDArray[Any] = np.zeros(len(signs[0]), np.uint8 if most < 255 else np.uint16)
    words, counts = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint8)  # written again for each block
    for start in range(0, len(apart), _BLOCK):
        block = apart[start : start + _BLOCK]
        left, count = words[: len(block)], counts[: len(block)]
        for word, same, mask in zip(signs, asked, compared, strict=True):
            np.bitwise_xor(word[start : start + _BLOCK], same, out=left)
            np.bitwise_and(left, mask, out=left)
            np.bitwise_count(left, out=count)
            block += count
    return apart
