"""Finds the nearest of many vectors: by the signs of their dimensions first, then by all their bits.

A vector of length 1 is kept with 8 bits a dimension. Up to some ten thousand are compared as they are, on usearch. Of
more, the signs alone are compared first, 32 bytes for 256 dimensions, and only the few that are nearest by them as they
are. Both depend on the vectors alone and never on their order, so an index that grew finds what a fresh one finds.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agent.index.arrays import Floats

SmallRows: TypeAlias = NDArray[np.int8]
"""Vectors, one in each row, with 8 bits a dimension."""
Places: TypeAlias = NDArray[np.uint32]
Signs: TypeAlias = Sequence[NDArray[np.uint64]]
"""The signs of many vectors: array `w` holds dimensions 64 `w` to 64 `w` + 63 of all, one bit each."""
NONE_GONE: Places = np.zeros(0, np.uint32)
_UNSURE = 0.4
"""The share of the dimensions that are not compared by sign: those in which the question is nearest to nothing. With
all compared, .982 of the 10 nearest of a million are among the 20,000 nearest by signs; with these left out .997."""
_BLOCK = 1 << 14
"""Vectors compared together: their signs stay in the processor's cache."""
_TIED = 8
"""Factor on the wanted number, for what is equally near; more of it are copies of one template."""


def load_library() -> None:
    """Import usearch ahead of the first search."""
    import_module("usearch.index")


def small_rows(vectors: Floats) -> SmallRows:
    """Vectors of length 1 (or zeros) with 8 bits a dimension."""
    rows: SmallRows = np.trunc(np.clip(vectors * np.float32(127), -127, 127)).astype(np.int8)
    return rows


def sign_words(dimensions: int) -> int:
    """The number of 64-bit words that hold one vector's signs."""
    return -(-dimensions // 64)


def pack_signs(is_set: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """For each row of truth values its words, one bit for each value."""
    packed = np.packbits(is_set, axis=1)
    whole = np.zeros((len(is_set), sign_words(is_set.shape[1]) * 8), np.uint8)
    whole[:, : packed.shape[1]] = packed
    return whole.view(np.uint64)


def nearest_by_signs(signs: Signs, vector: Floats, wanted: int, gone: Places = NONE_GONE) -> NDArray[np.intp]:
    """The places of the `wanted` vectors that differ from `vector` in the fewest signs, and of those that tie with the
    last of them, at most eight times as many; without those that are `gone`."""
    if len(signs[0]) - len(gone) <= wanted:
        return np.delete(np.arange(len(signs[0])), gone)
    size = np.abs(vector)
    left_out = int(len(size) * _UNSURE)
    compared = pack_signs((size >= np.partition(size, left_out)[left_out])[None])[0]
    asked = pack_signs((vector > 0)[None])[0]
    apart = _differences(signs, asked, compared)
    apart[gone] = np.iinfo(apart.dtype).max  # more than there are dimensions that are compared
    low, high = 0, len(vector)
    while low < high:
        middle = (low + high) // 2
        if np.count_nonzero(apart <= middle) >= wanted:
            high = middle
        else:
            low = middle + 1
    found = np.flatnonzero(apart <= low)
    if len(found) <= wanted * _TIED:
        return found
    return np.concatenate([np.flatnonzero(apart < low), np.flatnonzero(apart == low)])[: wanted * _TIED]


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


def nearest_notes(
    rows: SmallRows, notes: NDArray[np.uint32], vector: Floats, count: int, gone: Places = NONE_GONE
) -> list[int]:
    """The notes of the nearest rows, nearest first, at most `count`, and those at an equal distance; `notes` has the
    note of each row, `gone` are the places of rows that do not count.

    Notes at an equal distance are in the order of their numbers, which differ between two builds: all or none must be
    found.
    """
    size, asked = len(rows) - len(gone), count * 2
    if not size:
        return []
    apart = _distances(rows, vector)
    apart[gone] = np.inf
    found, last = _nearest(apart, notes, min(size, asked))
    furthest = [*found.values()][:count][-1]
    while last <= furthest and asked < min(size, count * 2 * _TIED):
        asked *= 4
        found, last = _nearest(apart, notes, min(size, asked))
    return [note for note, distance in found.items() if distance <= furthest][: count * _TIED]


def _nearest(apart: Floats, notes: NDArray[np.uint32], chunks: int) -> tuple[dict[int, float], float]:
    """The notes of the `chunks` rows that are least `apart` with their distances, nearest first, and the distance of
    the last of these rows."""
    places = np.argpartition(apart, chunks - 1)[:chunks]
    places = places[np.argsort(apart[places])]
    distances = apart[places].tolist()
    nearest: dict[int, float] = {}
    for note, distance in zip(notes[places].tolist(), distances, strict=True):
        nearest.setdefault(note, distance)
    return nearest, distances[-1]


def _distances(rows: SmallRows, vector: Floats) -> Floats:
    """The distance of each row. The vector is searched for each row, not the rows for the vector, which takes usearch
    a third of the time: it keeps no list of the best for each."""
    from usearch.index import search

    found: Floats = search(small_rows(vector)[None], rows, 1, exact=True, threads=1).distances.reshape(-1)
    return found
