"""Stores the notes of one update, as they come prepared, and hands each to the keyword engine.

Runs inside the database transaction of `update` and streams, so that the first index of many notes holds a few hundred
in memory. Committing is left to `update`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.index import document
from agent.index.keyword import FieldTerms
from agent.index.note_store import NoteStore
from agent.index.parts import AnyVectorWriter
from agent.index.prepare import CountChanges, NoteBytes, PreparedGroup, in_groups
from agent.index.records import PRIVATE, IndexTotals, StoredNote
from agent.markdown.keep_out import keeps_agent_out

NoteReader: TypeAlias = Callable[[str], bytes | None]
"""The bytes of the note at a path; None if it does not exist. May raise `OSError` or `AgentError`: the note counts as
failed."""
Prepare: TypeAlias = Callable[[Iterable[Sequence[NoteBytes]]], Iterator[PreparedGroup]]
"""Prepares groups of notes, in order, wherever it does so."""


def ignore_count(indexed: int) -> None:
    """Do nothing; for callers that show no progress."""


def says_never(path: str, data: bytes) -> bool:
    """True if the header of the note keeps the agent out; for callers without a vault."""
    return keeps_agent_out(data)


@dataclass(slots=True)
class Ingestion:
    """The notes of one update, with the counts of those already done."""

    store: NoteStore
    vectors: AnyVectorWriter | None
    prepare: Prepare
    numbers: Mapping[str, int]
    listed: Mapping[str, str]
    counts: CountChanges = field(default_factory=CountChanges)
    is_private: Callable[[str, bytes], bool] = says_never
    report: Callable[[int], object] = ignore_count
    """Is told how many notes are indexed, after each group."""
    indexed: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def forget(self, notes: Sequence[int]) -> None:
        """Remove notes from the store, the statistics and the vectors."""
        self.counts.subtract([data for _, _, data in self.store.data(notes).values()])
        self.store.remove(notes)
        if self.vectors is not None:
            self.vectors.remove(notes)

    def stream(self, paths: Sequence[str], read: NoteReader) -> Iterator[tuple[int, FieldTerms]]:
        """Read, prepare and store the notes, and yield each for the keyword engine."""
        for group in self.prepare(in_groups(self._readable(paths, read))):
            self.store.add(each.record for each in group.notes)
            self.counts.add(group.counts)
            if self.vectors is not None:
                self.vectors.add([each.record.id for each in group.notes], [each.chunks for each in group.notes])
            self.indexed += len(group.notes)
            self.report(self.indexed)
            for each in group.notes:
                yield each.record.id, each.fields

    def finish(self) -> None:
        """Write the statistics."""
        self.store.change_frequencies(self.counts.changes())
        totals: IndexTotals = self.store.totals().plus(self.counts.totals)
        self.store.set_meta("totals", json.dumps(asdict(totals)))

    def _readable(self, paths: Sequence[str], read: NoteReader) -> Iterator[NoteBytes]:
        """The notes that can be read and indexed."""
        for path in paths:
            try:
                data = read(path)
            except (OSError, AgentError) as error:
                self._leave(path, "failed", str(error) or type(error).__name__)
                continue
            if data is None:
                continue  # deleted since it was listed
            if len(data) > document.LARGEST:
                self._leave(path, "skipped", f"larger than {document.LARGEST // 1024 // 1024} MB")
            elif self.is_private(path, data):
                self._leave(path, "skipped", PRIVATE)
            elif document.is_binary(data):
                self._leave(path, "skipped", "not text")
            else:
                yield NoteBytes(self.numbers[path], path, self.listed[path], data)

    def _leave(self, path: str, status: str, reason: str) -> None:
        """Record that a note is not indexed; a failed one has no hash, so that the next update tries it again."""
        if status == "failed":
            self.failed.append((path, reason))
            self.store.add([StoredNote(self.numbers[path], path, "", "failed", reason)])
        else:
            self.skipped.append((path, reason))
            self.store.add([StoredNote(self.numbers[path], path, self.listed[path], "skipped", reason)])
