"""What scoring needs of a note as one row of bytes, and many such rows as arrays.

Terms are 32-bit checksums of their text: no dictionary has to be kept, and of 100,000 terms about one pair meets.
All arrays are 4 bytes wide, so that a row is read without a copy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int32]
Words: TypeAlias = NDArray[np.uint32]
Floats: TypeAlias = NDArray[np.float32]
HOOD = 2
"""Units on each side that belong to a unit's neighbourhood."""


def term_hash(term: str) -> int:
    """The number that stands for a term."""
    return crc32(term.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Packed:
    """One note. `ends` close the units in `terms`, `token_ends` in `tokens`; `norms` are of summed token vectors."""

    terms: Words
    ends: Ints
    extra: Words
    """Terms of the fields beside the body, with what each counts in `extra_weights`."""
    extra_weights: Floats
    tokens: Ints
    token_ends: Ints
    norms: Floats
    hood_norms: Floats
    first: Ints
    last: Ints
    """The lines of each unit, inclusive, from 1 in the file."""

    def to_bytes(self) -> bytes:
        arrays = self.arrays()
        lengths = np.array([len(array) for array in arrays], dtype=np.int32)
        return b"".join((lengths.tobytes(), *(array.tobytes() for array in arrays)))

    def arrays(self) -> tuple[Words, Ints, Words, Floats, Ints, Ints, Floats, Floats, Ints, Ints]:
        return (
            *(self.terms, self.ends, self.extra, self.extra_weights, self.tokens),
            *(self.token_ends, self.norms, self.hood_norms, self.first, self.last),
        )


_TYPES = tuple(np.dtype(name) for name in ("<u4", "<i4", "<u4", "<f4", "<i4", "<i4", "<f4", "<f4", "<i4", "<i4"))


def from_bytes(data: bytes) -> Packed:
    """The note in a row; raises `ValueError` when the row is cut short."""
    lengths = np.frombuffer(data, np.int32, len(_TYPES)).tolist()
    if (sum(lengths) + len(_TYPES)) * 4 != len(data):
        raise ValueError("a row of the passage store is cut short")
    arrays = []
    offset = len(_TYPES) * 4
    for kind, length in zip(_TYPES, lengths, strict=True):
        arrays.append(np.frombuffer(data, kind, length, offset))
        offset += length * 4
    return Packed(*arrays)


def hash_terms(texts: Sequence[str]) -> Words:
    """The numbers of many terms."""
    return np.array([crc32(text.encode("utf-8", "replace")) for text in texts], dtype=np.uint32)


def distinct(tokens: Ints) -> tuple[Ints, Ints]:
    """The distinct tokens in order, and each token's place among them; quicker than sorting."""
    if not len(tokens):
        return tokens, tokens
    seen = np.zeros(int(tokens.max()) + 1, dtype=bool)
    seen[tokens] = True
    distinct = np.flatnonzero(seen).astype(np.int32)
    places = np.empty(len(seen), dtype=np.int32)
    places[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, places[tokens]


def hood(units: int) -> tuple[Ints, Ints]:
    """For each unit of one note, the first unit of its neighbourhood and the one after the last."""
    at = np.arange(units, dtype=np.int32)
    return np.maximum(at - HOOD, 0), np.minimum(at + HOOD + 1, units)


@dataclass(frozen=True, slots=True)
class Batch:
    """Several notes end to end. `unit_note` is each unit's note, `note_ends` closes the notes in the units."""

    notes: int
    packed: Packed
    note_ends: Ints
    unit_note: Ints
    extra_note: Ints

    @property
    def units(self) -> int:
        return len(self.packed.ends)


def batch(rows: Sequence[Packed]) -> Batch:
    """The notes as one batch, ends counted through."""
    joined = [np.concatenate([*column]) for column in zip(*(row.arrays() for row in rows), strict=True)]
    units = np.array([len(row.ends) for row in rows], dtype=np.int32)
    terms = np.cumsum([0, *(len(row.terms) for row in rows[:-1])])
    tokens = np.cumsum([0, *(len(row.tokens) for row in rows[:-1])])
    joined[1] = joined[1] + np.repeat(terms, units).astype(np.int32)
    joined[5] = joined[5] + np.repeat(tokens, [len(row.token_ends) for row in rows]).astype(np.int32)
    number = np.arange(len(rows), dtype=np.int32)
    extra = np.repeat(number, [len(row.extra) for row in rows])
    return Batch(len(rows), Packed(*joined), np.cumsum(units).astype(np.int32), np.repeat(number, units), extra)
