"""Terms that the titles or headings of all notes of a folder share: "Session 1", "Session 2", or "## Tasks" each day.

They tell no note of the folder from another, so that they score nothing in it. A folder's own name is no such term: it
tells its notes from those of others.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from agent.index.analysis import terms
from agent.index.arrays import term_hash

_LEAST, _ENOUGH = 4, 30
"""The notes of the smallest folder that is looked at, and how many with a term are enough in a large one, of which a
search scores only a part."""
_SHARE = 0.9


def shared_terms(
    asked: NDArray[np.uint32], has: NDArray[np.bool_], paths: Sequence[str], size: Callable[[str], int]
) -> NDArray[np.bool_]:
    """For each term that is asked for and each note (at these paths) True if its folder's notes share the term. `has`
    says whether the note has it in its title or headings; `size` counts the notes of a folder."""
    shared = np.zeros_like(has)
    folders: dict[str, list[int]] = {}
    for at, path in enumerate(paths):
        folders.setdefault(path.rpartition("/")[0], []).append(at)
    for folder, notes in folders.items():
        if folder and len(notes) >= _LEAST:
            least = min(max(_SHARE * size(folder), _LEAST), _ENOUGH)
            own = np.isin(asked, np.array([term_hash(term) for term in terms(folder)], np.uint32))
            shared[np.ix_((has[:, notes].sum(axis=1) >= least) & ~own, notes)] = True
    return shared
