"""The Protocol of passage stores: a row for every indexed note, the statistics of all, and tables to look notes up.

`passage_store` is the one of a machine's own index, `postgres_store` that of an index that several machines share.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from agent.index.records import Filters, IndexTotals, NoteStatus, StoredNote


class NoteStore(Protocol):
    """An open store; close it after use. Every method may raise `Damaged`."""

    def close(self) -> None: ...

    def snapshot(self) -> AbstractContextManager[object]:
        """Read one consistent state inside."""
        ...

    def transaction(self) -> AbstractContextManager[object]:
        """Make the writes inside one step: all or nothing, also when the process is killed."""
        ...

    def meta(self, key: str, default: str = "") -> str:
        """A property of the index."""
        ...

    def set_meta(self, key: str, value: str) -> None:
        """Record a property of the index."""
        ...

    def totals(self) -> IndexTotals: ...

    def listing(self, *, attachments: bool = False) -> tuple[int, int]:
        """The number of all known notes, or attachments, and the fingerprint of their hashes."""
        ...

    def incomplete(self, *, attachments: bool = False) -> dict[str, tuple[NoteStatus, str]]:
        """Status and reason of each known note, or attachment, that is not found, or not whole."""
        ...

    def hashes(self, *, attachments: bool = False) -> dict[str, str]:
        """Every known note, or attachment, with its content hash."""
        ...

    def hashes_of(self, paths: Iterable[str]) -> dict[str, str]:
        """The content hashes of the known paths among these."""
        ...

    def ids(self, paths: Iterable[str]) -> dict[str, int]:
        """The numbers of the known paths among these."""
        ...

    def pending(self) -> list[tuple[str, int]]:
        """The paths, with their numbers, that the last update has not finished."""
        ...

    def set_pending(self, rows: Sequence[tuple[str, int]]) -> None: ...

    def add(self, records: Iterable[StoredNote]) -> None: ...

    def remove(self, ids: Sequence[int]) -> None:
        """Delete the rows with these numbers, existing or not."""
        ...

    def data(self, ids: Sequence[int]) -> dict[int, tuple[str, str, bytes]]:
        """Path, day and row of arrays of the indexed notes."""
        ...

    def records(self, ids: Sequence[int]) -> dict[int, StoredNote]:
        """The complete records of some notes, all of which are there."""
        ...

    def frequencies(self, hashes: Sequence[int]) -> dict[int, tuple[int, int]]:
        """For each known term, the numbers of notes and of units that contain it."""
        ...

    def change_frequencies(self, changes: Mapping[int, tuple[int, int]]) -> None:
        """Add to the numbers of notes and units of some terms; terms that no note contains are deleted."""
        ...

    def matching(self, filters: Filters) -> "array[int]":
        """The numbers of the indexed notes that satisfy every filter, in no order; others have no day or facet."""
        ...

    def paths_with(self, key: str, value: str) -> frozenset[str]:
        """The indexed notes with this value, in lower case, of a key of their header."""
        ...

    def folders(self) -> frozenset[str]:
        """The folders of the indexed notes, and those above them."""
        ...

    def notes_under(self, folder: str) -> int:
        """How many indexed notes a folder has; of a large one, only that they are many."""
        ...

    def facet_keys(self) -> frozenset[str]:
        """The header keys of all notes."""
        ...

    def of_days(self, spans: Sequence[tuple[str, str]], count: int) -> list[int]:
        """The first notes, at most `count` for each span, with a day in the span; only indexed notes have a day."""
        ...

    def verify(self) -> None:
        """Read everything; raise `Damaged` when something is not as it was written."""
        ...
