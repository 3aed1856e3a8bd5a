"""Writes segments of a Whoosh index from columns of postings, in Whoosh's own format.

Whoosh's writer sorts one tuple for each posting, in runs on disk, and writes each by a call: three quarters of the time
of a first index. Here postings are kept in arrays, put in order together, and written a term at a time. What reads them
is Whoosh, which knows all of these forms: few postings stand beside their term, more of them in blocks.
"""

import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import md5
from itertools import repeat
from pickle import dumps
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray
from whoosh.codec.whoosh3 import COMPRESSION_MIN_SIZE, WHOOSH3_HEADER_MAGIC
from whoosh.filedb.filetables import OrderedHashWriter
from whoosh.reading import SegmentReader
from whoosh.writing import SegmentWriter

from agent.dataclass import dataclass

_BESIDE_TERM = 16
"""The most postings that stand beside their term."""
_BLOCK = 1024
"""Postings of a block. Whoosh itself writes 128, to skip some; here all postings of a term are read."""
_COMPRESSION = 3
_PROTOCOL = 2
_TERM = Struct("!BfIBBfII")
"""Of a term: whether its postings stand beside it, their weights' sum, their number, two lengths that are not used, the
largest weight, the first and the last document."""
_PLACE = Struct("!qi")
_SIZES = Struct("!ii")
_SLOT = Struct("!Iq")
_FIELD = Struct("!H")
_WHOLE = Struct("!i")


class _Numbers(dict[bytes, int]):
    """A number for each term, in the order in which they came."""

    def __missing__(self, term: bytes) -> int:
        number = self[term] = len(self)
        return number


@dataclass(slots=True)
class PostingColumns:
    """The postings of one field: term, document and weight of each; the documents of a term come in their order."""

    numbers: _Numbers = field(default_factory=_Numbers)
    terms: "array[int]" = field(default_factory=lambda: array("I"))
    documents: "array[int]" = field(default_factory=lambda: array("I"))
    weights: "array[float]" = field(default_factory=lambda: array("f"))

    def add_document(self, document: int, terms: Iterable[str]) -> None:
        """Add a document; the weight of a term is the number of its occurrences."""
        counts = Counter(terms)
        self.terms.extend([self.numbers[term.encode("utf-8", "replace")] for term in counts])
        self.documents.extend(repeat(document, len(counts)))
        self.weights.extend(counts.values())

    def add_term(self, term: bytes, documents: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        """Add postings of a term, of documents after all that it has."""
        self.terms.extend(repeat(self.numbers[term], len(documents)))
        self.documents.frombytes(documents.astype(np.uint32).tobytes())
        self.weights.frombytes(weights.astype(np.float32).tobytes())

    def in_order(self) -> Iterator[tuple[bytes, bytes, list[int], list[float]]]:
        """Each term in the order of its bytes, with what its entry begins with, its documents and their weights."""
        terms = np.frombuffer(self.terms, np.uint32)
        order = np.argsort(terms, kind="stable")
        documents = np.frombuffer(self.documents, np.uint32)[order]
        weights = np.frombuffer(self.weights, np.float32)[order]
        ends = np.cumsum(np.bincount(terms, minlength=len(self.numbers)))
        starts = np.concatenate(([0], ends[:-1]))
        figures = zip(
            *(starts.tolist(), ends.tolist()),
            np.add.reduceat(weights, starts).tolist(),
            *(np.maximum.reduceat(weights, starts).tolist(), documents[starts].tolist(), documents[ends - 1].tolist()),
            strict=True,
        )
        rows = [*figures]
        for term in sorted(self.numbers):
            start, end, total, most, first, last = rows[self.numbers[term]]
            count = end - start
            head = _TERM.pack(count <= _BESIDE_TERM, total, count, 0, 0, most, first, last)
            yield term, head, documents[start:end].tolist(), weights[start:end].tolist()


class ColumnWriter(SegmentWriter):
    """Whoosh's writer of one new segment, of which `add_note` takes the place of `add_document`.

    `read` returns the documents and weights of a term in a segment, for segments that are merged into the new one.
    """

    def __init__(self, index: Any, read: Callable[[SegmentReader, str, bytes], tuple[Any, Any]]) -> None:
        super().__init__(index)  # type: ignore[no-untyped-call]
        self._read = read
        self._columns: dict[str, PostingColumns] = {}
        terms = self.fieldwriter._tindex.dbfile
        terms.seek(0)
        self.fieldwriter._tindex = TermsFile(terms)  # type: ignore[no-untyped-call]
        self.fieldwriter._tindex.extras["fieldmap"] = self.fieldwriter._fieldmap

    def add_note(self, fields: Mapping[str, Sequence[str]], **values: int) -> None:
        """Add a document with these terms by field, and these values of columns."""
        for name, terms in fields.items():
            self._columns.setdefault(name, PostingColumns()).add_document(self.docnum, terms)
        self.add_document(**values)  # type: ignore[no-untyped-call]

    def add_postings_to_pool(self, reader: SegmentReader, startdoc: int, docmap: Mapping[int, int] | None) -> None:
        """Add the postings of a segment that is merged; `docmap` has the new
        numbers of those that stay, if some are deleted."""
        new = np.arange(reader.doc_count_all(), dtype=np.int64) + startdoc
        if docmap is not None:
            new[:] = -1
            new[[*docmap]] = [*docmap.values()]
        for name, term in reader.all_terms():
            documents, weights = self._read(reader, name, term)
            there = new[documents] >= 0
            if there.any():
                columns = self._columns.setdefault(name, PostingColumns())
                columns.add_term(term, new[documents[there]], weights[there])

    def _flush_segment(self) -> None:
        self.perdocwriter.close()
        for name in sorted(self._columns):
            self._write_field(name, self._columns.pop(name))
        self.fieldwriter.close()

    def _write_field(self, name: str, columns: PostingColumns) -> None:
        self.fieldwriter.start_field(name, self.schema[name])
        prefix, file = _FIELD.pack(self.fieldwriter._fieldid), self.fieldwriter._postfile
        entries, at = [], file.tell()
        for term, head, documents, weights in columns.in_order():
            if len(documents) <= _BESIDE_TERM:
                entries.append((prefix + term, head + dumps((tuple(documents), tuple(weights), ()), _PROTOCOL)))
                continue
            data = _blocks(documents, weights)
            file.write(data)
            entries.append((prefix + term, head + _PLACE.pack(at, len(data))))
            at += len(data)
        self.fieldwriter._tindex.add_all(entries)
        self.fieldwriter.finish_field()


class TermsFile(OrderedHashWriter):
    """Whoosh's table of terms, written in few pieces instead of four for each term."""

    def add_all(self, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Add terms, which come in the order of their bytes."""
        at, pieces = self.dbfile.tell(), list[bytes]()
        for key, value in items:
            number = int.from_bytes(md5(key, usedforsecurity=False).digest()[-4:], "big")
            self.buckets[number & 255].append((number, at))
            self.index.append(at)
            pieces += (_SIZES.pack(len(key), len(value)), key, value)
            at += _SIZES.size + len(key) + len(value)
        self.dbfile.write(b"".join(pieces))

    def _write_hashes(self) -> None:
        for entries in self.buckets:
            slots: list[tuple[int, int]] = [(0, 0)] * (2 * len(entries))
            self.directory.append((self.dbfile.tell(), len(slots)))
            for number, at in entries:
                slot = (number >> 8) % len(slots)
                while slots[slot][1]:
                    slot = (slot + 1) % len(slots)
                slots[slot] = (number, at)
            self.dbfile.write(b"".join([_SLOT.pack(number, at) for number, at in slots]))


def _blocks(documents: list[int], weights: list[float]) -> bytes:
    """Many postings of one term, as they stand in the file of postings."""
    pieces = [WHOOSH3_HEADER_MAGIC]
    for start in range(0, len(documents), _BLOCK):
        some, theirs = documents[start : start + _BLOCK], tuple(weights[start : start + _BLOCK])
        gaps = (some[0], *(later - earlier for earlier, later in zip(some, some[1:], strict=False)))
        most = max(theirs)
        same = most if theirs.count(most) == len(theirs) else None
        data = dumps((gaps, theirs if same is None else None if same == 1.0 else same, None), _PROTOCOL)
        compression = _COMPRESSION if len(data) >= COMPRESSION_MIN_SIZE else 0
        if compression:
            data = zlib.compress(data, compression)
        head = dumps((len(some), some[-1], most, compression, 0, 0), _PROTOCOL)
        length = len(head) + len(data)
        pieces += (_WHOLE.pack(-length if start + _BLOCK >= len(documents) else length), head, data)
    return b"".join(pieces)
