"""Encodes documents as the numbers that are stored: arrays of terms and tokens, and chunk vectors.

Many notes are tokenized and summed together, which is several times faster than one at a time.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from agent.dataclass import dataclass
from agent.index.arrays import HOOD, Floats, Ints, NoteArrays, counted_tokens, distinct, hash_terms
from agent.index.document import Document
from agent.index.embedder import Embedder, in_parts

CHUNK_TOKENS = 160
"""Tokens at which a chunk ends: about a paragraph, one statement of a note."""
_TOGETHER = 200_000
"""Characters that are tokenized and summed at once: each distinct token of them has a row of its own meanwhile."""
_SUMMED = 4_096
"""The rows of a long text that are summed at once, a few megabytes."""
_MOST_CHUNKS = 1 << 12
"""The most chunks of one note; the last one has all that is left."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """One note as numbers: its arrays, and a vector of length 1 for each chunk (none without an embedder)."""

    arrays: NoteArrays
    chunks: Floats


def encode(documents: Sequence[Document], embedder: Embedder | None, fields: Mapping[str, float]) -> list[Encoded]:
    """The documents as numbers, in order; `fields` is the weight of a term in each field."""
    units = [unit for document in documents for unit in document.units]
    titles = [document.title for document in documents]
    tokens, ends, sums = _tokenize([unit.text for unit in units], embedder)
    _, _, title_sums = _tokenize(titles, embedder)
    lengths = np.diff(ends, prepend=0)
    counted, ends = counted_tokens(tokens, ends)
    counts = [len(document.units) for document in documents]
    norms, hood_norms = np.linalg.norm(sums, axis=1).astype(np.float32), _hood_norms(sums, counts)
    found = []
    start = 0
    for document, title, count in zip(documents, title_sums, counts, strict=True):
        at = slice(start, start + count)
        before = int(ends[start - 1]) if start else 0
        token_ends = ends[at] - np.int32(before)
        extra = [(term, fields[name]) for name, each in document.fields.items() if name != "body" for term in each]
        arrays = NoteArrays(
            hash_terms([term for unit in document.units for term in unit.terms]),
            np.cumsum([len(unit.terms) for unit in document.units], dtype=np.int32),
            hash_terms([term for term, _ in extra]),
            np.array([weight for _, weight in extra], dtype=np.float32),
            counted[before : before + int(token_ends[-1]) if count else before],
            token_ends,
            norms[at],
            hood_norms[at],
            np.array([unit.first for unit in document.units], dtype=np.int32),
            np.array([unit.last for unit in document.units], dtype=np.int32),
        )
        found.append(Encoded(arrays, _chunks(lengths[at].tolist(), sums[at], title)))
        start += count
    return found


def _hood_norms(sums: Floats, counts: Sequence[int]) -> Floats:
    """The length of the sum of each unit's neighbourhood; `counts` is the number of units of each note.

    Between the notes stand empty units, so that no neighbourhood reaches into another note and all are summed at once.
    """
    note = np.repeat(np.arange(len(counts)), counts)
    at = np.arange(len(sums)) + HOOD * (note + 1)
    spread = np.zeros((len(sums) + HOOD * (len(counts) + 1), sums.shape[1]), np.float32)
    spread[at] = sums
    total = spread.copy()
    for by in range(1, HOOD + 1):
        total[by:] += spread[:-by]
        total[:-by] += spread[by:]
    norms: Floats = np.linalg.norm(total[at], axis=1).astype(np.float32)
    return norms


def _tokenize(texts: Sequence[str], embedder: Embedder | None) -> tuple[Ints, Ints, Floats]:
    """The tokens of the texts, where each text ends among them, and the sum of the vectors of each text.

    Without an embedder, or without tokens, a sum is of no numbers, or of zeros.
    """
    if embedder is None:
        return np.zeros(0, np.int32), np.zeros(len(texts), np.int32), np.zeros((len(texts), 0), np.float32)
    tokens = [np.zeros(0, np.int32)]
    sums = np.zeros((len(texts), embedder.dimensions), np.float32)
    at = 0
    for part in in_parts(texts, _TOGETHER):
        some = embedder.tokens(part)
        found, places = distinct(np.concatenate(some))
        rows, end = embedder.vectors(found), 0
        for each in some:
            start, end = end, end + len(each)
            sums[at] = _sum(rows, places[start:end])
            at += 1
        tokens += some
    return np.concatenate(tokens), np.cumsum([len(each) for each in tokens[1:]], dtype=np.int32), sums


def _sum(rows: Floats, places: Ints) -> Floats:
    """The sum of the rows at these places, added in an order that depends on the text alone; far faster than
    `np.add.reduceat`, which goes down the columns."""
    total: Floats = np.add.reduce(rows.take(places[:_SUMMED], axis=0), axis=0)
    for start in range(_SUMMED, len(places), _SUMMED):
        total += np.add.reduce(rows.take(places[start : start + _SUMMED], axis=0), axis=0)
    return total


def _chunks(lengths: Sequence[int], sums: Floats, title: Floats) -> Floats:
    """One vector of length 1 for each run of units; each includes the title."""
    if not sums.shape[1]:
        return np.zeros((0, 0), np.float32)
    starts, held = [0], 0
    for at, length in enumerate(lengths):
        if held and held + length > CHUNK_TOKENS and len(starts) < _MOST_CHUNKS:
            starts.append(at)
            held = 0
        held += length
    rows = np.add.reduceat(sums, starts, axis=0) + title if len(sums) else title[None, :]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    return unit
