"""Turns notes into what the index stores of them: the part of indexing that takes time, and touches no file.

What is prepared depends on the notes and the embedder alone, so that it can be done in any process (`processes`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.dataclass import dataclass
from agent.index.arrays import Floats
from agent.index.attachment import parse_attachment
from agent.index.document import Document, parse_document
from agent.index.embedder import Embedder
from agent.index.encode import encode
from agent.index.keyword import FieldTerms
from agent.index.records import StoredNote, is_attachment
from agent.index.term_counts import TermCounts, count_terms

MOST_NOTES = 200
"""The most notes that are prepared at once: tokenizing and summing many together is several times as fast."""
_MOST_BYTES = 1_000_000
"""Bytes of notes at which a group is complete: what is made of them takes about thirty times as much memory."""


@dataclass(frozen=True, slots=True)
class NoteBytes:
    """A note to index: its number in the index, path, content hash and bytes."""

    number: int
    path: str
    digest: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PreparedNote:
    """A note as it is stored: its row, its terms for the keyword engine, and a vector for each chunk."""

    record: StoredNote
    fields: FieldTerms
    chunks: Floats


@dataclass(frozen=True, slots=True)
class PreparedGroup:
    """Notes that were prepared together, with the counts of their terms."""

    notes: tuple[PreparedNote, ...]
    counts: TermCounts


def in_groups(notes: Iterable[NoteBytes]) -> Iterator[Sequence[NoteBytes]]:
    """The notes in groups that fit into a bounded memory; a large note is a group of its own."""
    group: list[NoteBytes] = []
    size = 0
    for note in notes:
        if group and (len(group) == MOST_NOTES or size + len(note.data) > _MOST_BYTES):
            yield group
            group, size = [], 0
        group.append(note)
        size += len(note.data)
    if group:
        yield group


def prepare(group: Sequence[NoteBytes], embedder: Embedder | None, fields: Mapping[str, float]) -> PreparedGroup:
    """The notes of one group, in order; never fails, whatever their bytes. `fields`: the weight of a term in each."""
    documents = [
        (parse_attachment if is_attachment(note.path) else parse_document)(note.path, note.data) for note in group
    ]
    encoded = encode(documents, embedder, fields)
    rows = [each.arrays.to_bytes() for each in encoded]
    notes = tuple(
        PreparedNote(stored_note(note.number, note.digest, found, row), found.fields, each.chunks)
        for note, found, row, each in zip(group, documents, rows, encoded, strict=True)
    )
    return PreparedGroup(notes, count_terms(rows))


def stored_note(number: int, digest: str, found: Document, data: bytes) -> StoredNote:
    """The row of a note; `data` is its row of arrays."""
    headings: list[tuple[int, tuple[str, ...]]] = []
    for at, unit in enumerate(found.units):
        if not headings or headings[-1][1] != unit.headings:
            headings.append((at, unit.headings))
    return StoredNote(
        *(number, found.path, digest, "indexed", found.problem, found.title, found.id, found.day),
        headings=tuple(headings),
        facets=found.facets,
        data=data,
        text=found.text,
    )
