"""Finds the nearest of some vectors by all their bits, on usearch.

A vector of length 1 is kept with 8 bits a dimension. Up to some ten thousand are compared as they are. Of more, `signs`
chooses the few that are. Both depend on the vectors alone and never on their order, so an index that grew finds what a
fresh one finds.
"""

from importlib import import_module
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agent.index.arrays import Floats
from agent.index.signs import NONE_GONE, TIED, Places

SmallRows: TypeAlias = NDArray[np.int8]
"""Vectors, one in each row, with 8 bits a dimension."""


def load_library() -> None:
    """Import usearch ahead of the first search."""
    import_module("usearch.index")


def small_rows(vectors: Floats) -> SmallRows:
    """Vectors of length 1 (or zeros) with 8 bits a dimension."""
    rows: SmallRows = np.trunc(np.clip(vectors * np.float32(127), -127, 127)).astype(np.int8)
    return rows


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
    while last <= furthest and asked < min(size, count * 2 * TIED):
        asked *= 4
        found, last = _nearest(apart, notes, min(size, asked))
    return [note for note, distance in found.items() if distance <= furthest][: count * TIED]


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
