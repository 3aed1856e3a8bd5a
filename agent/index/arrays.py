"""The arrays that score a note, as one row of bytes, and the joined arrays of many notes.

Terms are 32-bit checksums of their text: no dictionary is needed, and 100,000 terms have about one collision. All
arrays are 4 bytes wide, so a row is read without a copy.
"""

from collections.abc import Sequence
from typing import TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass

Ints: TypeAlias = NDArray[np.int32]
Words: TypeAlias = NDArray[np.uint32]
Floats: TypeAlias = NDArray[np.float32]
HOOD = 2
"""Units on each side in a unit's neighbourhood."""
MOST_TOKENS = 1 << 24
"""The tokens that a model may have: a stored token is the lower 24 bits of a number."""
_MOST_TIMES = 1 << 8


def term_hash(term: str) -> int:
    """The 32-bit checksum of a term."""
    return crc32(term.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class NoteArrays:
    """One note. `ends` are the ends of the units in `terms`, `token_ends` those in `tokens`, which are as
    `counted_tokens` makes them; `norms` are the lengths of the units' vectors."""

    terms: Words
    ends: Ints
    extra: Words
    """Terms of the fields other than the body; `extra_weights` has the weight of each."""
    extra_weights: Floats
    tokens: Words
    token_ends: Ints
    norms: Floats
    hood_norms: Floats
    first: Ints
    last: Ints
    """The lines of each unit, inclusive, from 1 in the file."""

    def to_bytes(self) -> bytes:
        columns = self.columns()
        lengths = np.array([len(array) for array in columns], dtype=np.int32)
        return b"".join((lengths.tobytes(), *(array.tobytes() for array in columns)))

    def columns(self) -> tuple[Words, Ints, Words, Floats, Words, Ints, Floats, Floats, Ints, Ints]:
        return (
            *(self.terms, self.ends, self.extra, self.extra_weights, self.tokens),
            *(self.token_ends, self.norms, self.hood_norms, self.first, self.last),
        )


_TYPES = tuple(np.dtype(name) for name in ("<u4", "<i4", "<u4", "<f4", "<u4", "<i4", "<f4", "<f4", "<i4", "<i4"))


def from_bytes(data: bytes) -> NoteArrays:
    """The note in a row; raises `ValueError` for a truncated row."""
    lengths = np.frombuffer(data, np.int32, len(_TYPES)).tolist()
    if (sum(lengths) + len(_TYPES)) * 4 != len(data):
        raise ValueError("a row of the passage store is cut short")
    arrays = []
    offset = len(_TYPES) * 4
    for kind, length in zip(_TYPES, lengths, strict=True):
        arrays.append(np.frombuffer(data, kind, length, offset))
        offset += length * 4
    return NoteArrays(*arrays)


class _Hashes(dict[str, int]):
    """The checksums of terms that were seen lately: most words of a text come again and again."""

    def __missing__(self, term: str) -> int:
        if len(self) >= _HELD:
            self.clear()
        found = self[term] = term_hash(term)
        return found


_HELD = 1 << 17
_hashes = _Hashes()


def hash_terms(texts: Sequence[str]) -> Words:
    """The checksums of many terms."""
    return np.fromiter(map(_hashes.__getitem__, texts), np.uint32, len(texts))


def forget_checksums(few: int) -> None:
    """Forget the checksums of terms met, if they are more than a few."""
    if len(_hashes) > few:
        _hashes.clear()


def counted_tokens(tokens: Ints, ends: Ints) -> tuple[Words, Ints]:
    """The distinct tokens of each unit in order, and where each unit ends among them; `ends` are its ends in `tokens`.

    The upper 8 bits of each are how often the unit has it, less one. A token that it has more than 256 times stands
    there again. Of long notes in 36 languages .30 of the tokens are left, since a script that the model knows by its
    bytes says the same ones again and again.
    """
    unit = np.repeat(np.arange(len(ends), dtype=np.int64), np.diff(ends, prepend=0))
    keys = np.sort(unit << 32 | tokens)
    is_first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    times = np.diff(first, append=len(keys))
    for at in np.flatnonzero(times > _MOST_TIMES):
        is_first[first[at] : first[at] + times[at] : _MOST_TIMES] = True
    first = np.flatnonzero(is_first)
    times = np.diff(first, append=len(keys))
    found: Words = (keys[first] | (times - 1) << 24).astype(np.uint32)
    return found, np.searchsorted(first, ends).astype(np.int32)


def tokens_in(counted: Words) -> Ints:
    """The tokens of `counted_tokens`."""
    return (counted & np.uint32(MOST_TOKENS - 1)).view(np.int32)


def times_in(counted: Words) -> Ints:
    """How often each stands there."""
    return (counted >> np.uint32(24)).view(np.int32) + np.int32(1)


def distinct(tokens: Ints) -> tuple[Ints, Ints]:
    """The distinct tokens in order, and each token's index among them; faster than sorting."""
    if not len(tokens):
        return tokens, tokens
    seen = np.zeros(int(tokens.max()) + 1, dtype=bool)
    seen[tokens] = True
    distinct = np.flatnonzero(seen).astype(np.int32)
    places = np.empty(len(seen), dtype=np.int32)
    places[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, places[tokens]


def hoods(counts: NDArray[np.int64]) -> tuple[Ints, Ints]:
    """For each unit of some notes, the first unit of its neighbourhood and the one after the last.

    `counts` is the number of units of each note; no neighbourhood reaches into another note.
    """
    ends = np.cumsum(counts)
    at = np.arange(ends[-1] if len(ends) else 0, dtype=np.int32)
    low = np.maximum(at - HOOD, np.repeat(ends - counts, counts))
    high = np.minimum(at + HOOD + 1, np.repeat(ends, counts))
    return low.astype(np.int32), high.astype(np.int32)


@dataclass(frozen=True, slots=True)
class Batch:
    """Several notes joined. `unit_note` is the note of each unit, `note_ends` the end of each note in the units.

    `low` and `high` are the bounds of each unit's neighbourhood (`hoods`).
    """

    notes: int
    arrays: NoteArrays
    note_ends: Ints
    unit_note: Ints
    extra_note: Ints
    low: Ints
    high: Ints

    @property
    def units(self) -> int:
        return len(self.arrays.ends)


def batch(rows: Sequence[bytes]) -> Batch:
    """The notes of some rows (`NoteArrays.to_bytes`) joined; raises `ValueError` for a truncated row.

    The rows are cut as bytes and joined by column: arrays of each column of 80 notes took more than twice as long.
    """
    kinds, head = len(_TYPES), len(_TYPES) * 4
    if min(map(len, rows), default=head) < head:
        raise ValueError("a row of the passage store is cut short")
    lengths = np.frombuffer(b"".join([row[:head] for row in rows]), np.int32).reshape(-1, kinds).astype(np.int64)
    stops = head + 4 * np.cumsum(lengths, axis=1)
    if (lengths < 0).any() or stops[:, -1].tolist() != [len(row) for row in rows]:
        raise ValueError("a row of the passage store is cut short")
    joined = [
        np.frombuffer(b"".join([row[start:stop] for row, start, stop in zip(rows, first, last, strict=True)]), kind)
        for kind, first, last in zip(_TYPES, (stops - 4 * lengths).T.tolist(), stops.T.tolist(), strict=True)
    ]
    terms, units, extra, tokens, token_units = (lengths[:, at] for at in (0, 1, 2, 4, 5))
    joined[1] = joined[1] + np.repeat(np.cumsum(terms) - terms, units).astype(np.int32)
    joined[5] = joined[5] + np.repeat(np.cumsum(tokens) - tokens, token_units).astype(np.int32)
    number = np.arange(len(rows), dtype=np.int32)
    note_ends = np.cumsum(units).astype(np.int32)
    low, high = hoods(units)
    return Batch(
        len(rows), NoteArrays(*joined), note_ends, np.repeat(number, units), np.repeat(number, extra), low, high
    )
