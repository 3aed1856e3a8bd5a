"""Notes that are searched without being in the index, as an editor holds them: prepared as those that are."""

from collections.abc import Iterable, Mapping

from agent.index.document import Document, parse_document
from agent.index.embedder import Embedder
from agent.index.encode import encode
from agent.index.hit import Filters
from agent.index.prepare import stored_note
from agent.index.records import StoredNote


def encode_unsaved(
    unsaved: Iterable[tuple[str, bytes]], filters: Filters, embedder: Embedder | None, fields: Mapping[str, float]
) -> Mapping[int, StoredNote]:
    """Those of the notes (path, bytes) that satisfy the filters, as rows of the store with numbers of their own."""
    documents = [each for path, data in unsaved if _satisfies(each := parse_document(path, data), filters)]
    rows = zip(documents, encode(documents, embedder, fields) if documents else (), strict=True)
    return {-at: stored_note(-at, "", each, row.arrays.to_bytes()) for at, (each, row) in enumerate(rows, 1)}


def _satisfies(document: Document, filters: Filters) -> bool:
    is_at = not filters.paths or any(document.path.startswith(path) for path in filters.paths)
    is_in_time = (filters.after or "") <= document.day <= (filters.before or "9999")
    return is_at and is_in_time and all(key in document.facets for key in filters.keys)
