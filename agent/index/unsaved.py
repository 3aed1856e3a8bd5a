"""Notes that are searched without being in the index, as an editor holds them: prepared as those that are."""

from collections.abc import Iterable, Mapping, Sequence

from agent.index.document import parse_document
from agent.index.embedder import Embedder
from agent.index.encode import encode
from agent.index.prepare import stored_note
from agent.index.records import Filters, StoredNote


def encode_unsaved(
    unsaved: Iterable[tuple[str, bytes]], embedder: Embedder | None, fields: Mapping[str, float]
) -> Sequence[StoredNote]:
    """The notes (path, bytes) as rows of the store with numbers of their own; `fields` as in `encode`."""
    documents = [parse_document(path, data) for path, data in unsaved]
    rows = encode(documents, embedder, fields)
    return [
        stored_note(-at, "", each, row.arrays.to_bytes())
        for at, (each, row) in enumerate(zip(documents, rows, strict=True), 1)
    ]


def satisfying(notes: Iterable[StoredNote], filters: Filters) -> Mapping[int, StoredNote]:
    """Those of the notes that satisfy every filter, by their numbers."""
    return {each.id: each for each in notes if _satisfies(each, filters)}


def _satisfies(note: StoredNote, filters: Filters) -> bool:
    is_at = not filters.paths or any(note.path.startswith(path) for path in filters.paths)
    is_in_time = (filters.after or "") <= note.day <= (filters.before or "9999")
    is_left_out = any(_satisfies(note, each) for each in filters.without)
    return is_at and is_in_time and not is_left_out and all(key in note.facets for key in filters.keys)
