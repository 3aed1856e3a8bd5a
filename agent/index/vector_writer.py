"""Writes the chunk vectors of an index: a save writes what came since the last merge, and a merge everything.

What is added or removed becomes valid only with the state that `save` returns. The files of earlier states are deleted
by `update`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.arrays import Floats
from agent.index.files import IndexFiles
from agent.index.vectors import (
    SmallRows,
    VectorFile,
    VectorState,
    chunks_of,
    keys_of,
    notes_of,
    parse_state,
    small_rows,
    write_vectors,
)

_LEAST = 1_000
"""So many recent chunks, or gone notes, are never merged: a save writes at most 0.3 MB for them."""
_SHARE = 32
"""One part in so many of the base may come or go before a merge."""


@dataclass(slots=True)
class VectorWriter:
    """The vectors of one index while it is written."""

    files: IndexFiles
    dimensions: int
    state: VectorState = field(init=False)
    """The last one that was saved or loaded."""
    _recent: dict[int, SmallRows] | None = field(default=None, init=False)
    """The recent notes' vectors with all changes; None as long as there are none."""
    _gone: set[int] = field(default_factory=set, init=False)
    _is_changed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.state = VectorState(self.dimensions)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files."""
        return self.state.names

    def load(self, state: str, *, verify: bool = False) -> None:
        """Continue from a state, as `save` returned it; raises `Damaged` when the files are not of it.

        Without `verify`, only the sizes of the files are looked at.
        """
        found = parse_state(state, self.dimensions)
        for each in (found.base, found.recent):
            if each is not None:
                each.check(self.files, bytes_too=verify)
        self.state, self._recent, self._gone, self._is_changed = found, None, set(found.gone), False

    def add(self, notes: Sequence[int], vectors: Sequence[Floats]) -> None:
        """Add the chunk vectors of notes that are not in the index; raises `Damaged`."""
        some = {note: small_rows(rows) for note, rows in zip(notes, vectors, strict=True) if len(rows)}
        if some:
            self._changed().update(some)

    def remove(self, notes: Iterable[int]) -> None:
        """Remove notes, whether indexed or not; raises `Damaged`."""
        gone = {*notes}
        if not gone:
            return
        recent = self._changed()
        if self.state.base is not None:
            self._gone |= gone - recent.keys()  # one that is recent is in no base, or is gone from it already
        for note in gone & recent.keys():
            del recent[note]

    def save(self) -> str:
        """The state with all that was added and removed, for `load` and for readers; raises `Damaged`."""
        if self._is_changed:
            self.state = self._saved(self._changed())
            self._is_changed = False
        return self.state.to_json()

    def _changed(self) -> dict[int, SmallRows]:
        """The recent notes' vectors, to be changed."""
        self._is_changed = True
        if self._recent is None:
            keys, rows = self._chunks(self.state.recent)
            of = notes_of(keys)
            order = np.lexsort((keys, of))
            notes, starts = np.unique(of[order], return_index=True)
            self._recent = dict(zip(notes.tolist(), np.split(rows[order], starts[1:]), strict=False))
        return self._recent

    def _chunks(self, file: VectorFile | None) -> tuple[NDArray[np.uint64], SmallRows]:
        if file is None:
            return np.zeros(0, np.uint64), np.zeros((0, self.dimensions), np.int8)
        return chunks_of(file.open(self.files, self.dimensions, mapped=False))

    def _saved(self, recent: Mapping[int, SmallRows]) -> VectorState:
        """The state with what is recent in a file of its own, or once that is much, with all in a new base."""
        keys = np.concatenate([np.zeros(0, np.uint64), *(keys_of(note, len(rows)) for note, rows in recent.items())])
        rows = np.concatenate([np.zeros((0, self.dimensions), np.int8), *recent.values()])
        base = self.state.base
        most = max(_LEAST, (base.count if base is not None else 0) // _SHARE)
        if len(keys) <= most and len(self._gone) <= most:
            file = write_vectors(self.files, keys, rows) if len(keys) else None
            return VectorState(self.dimensions, base, file, tuple(sorted(self._gone)))
        old_keys, old_rows = self._chunks(base)
        remaining = np.isin(notes_of(old_keys), np.array([*self._gone], np.uint64), invert=True)
        keys, rows = np.concatenate([old_keys[remaining], keys]), np.concatenate([old_rows[remaining], rows])
        self._recent = None
        self._gone.clear()
        return VectorState(self.dimensions, write_vectors(self.files, keys, rows) if len(keys) else None)
