"""The keyword index on Whoosh: pure Python, always installed.

Whoosh's own search takes 30 ms and more at 10,000 notes, one posting at a time. Here postings are read in blocks into
arrays and scored together, about ten times as fast.
"""

import pickle
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from dataclasses import field
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from whoosh import columns, fields, formats, index
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import StructFile
from whoosh.reading import TermNotFound

from agent.config.private import make_folder
from agent.dataclass import dataclass
from agent.index.checksums import MappedFiles
from agent.index.files import Damaged
from agent.index.keyword import FIELDS, Engine, FieldTerms, Weights

_BROKEN = (index.IndexError, OSError, ValueError, KeyError, TypeError, EOFError, pickle.UnpicklingError, zlib.error)
_KEPT = 4_000
"""Postings that stay in memory while the index does not change."""
_MEGABYTES, _MEGABYTES_MORE = 128, 32
"""Memory of the writer of a first index, and of an update, before it writes to disk."""


class TermsField(fields.FieldType):
    """A field whose value is a list of terms; a posting's weight is the number of occurrences of the term."""

    def __init__(self) -> None:
        self.format = formats.Existence()
        self.analyzer = None
        self.scorable = self.stored = self.unique = False
        self.vector = self.column_type = None
        self.spelling = False

    def index(self, value: Sequence[str], **_: object) -> Generator[tuple[bytes, int, float, bytes], None, None]:
        """Each distinct term with the number of its occurrences, as Whoosh's writer asks for them."""
        for term, count in Counter(value).items():
            yield term.encode("utf-8", "replace"), count, float(count), b""


class _Segments(FileStorage):
    """The files of an index; a segment is mapped, and read where it stands.

    Whoosh maps it too, but then copies all of it into memory: of 10,000 notes of a thousand words that is 60 MB twice.
    """

    def open_file(self, name: str, **options: Any) -> Any:
        if not name.endswith(".seg"):
            return super().open_file(name, **options)  # type: ignore[no-untyped-call]
        with (Path(self.folder) / name).open("rb") as file:
            mapped: Any = mmap(file.fileno(), 0, access=ACCESS_READ)
        return StructFile(mapped, name=name)


@dataclass(slots=True)
class _Leaf:
    """One segment: its reader, the note of each document, the documents' lengths, and which are not deleted."""

    reader: Any
    keys: NDArray[np.int64]
    lengths: NDArray[np.float64]
    live: NDArray[np.bool_]
    first: int
    postings: dict[tuple[str, str], tuple[NDArray[np.int64], NDArray[np.float64]]] = field(default_factory=dict)


@dataclass(slots=True)
class WhooshKeyword:
    """A `KeywordIndex` on Whoosh; see `keyword`."""

    folder: Path
    weights: Weights
    _index: Any = None
    _leaves: list[_Leaf] = field(default_factory=list)
    _generation: int = -1
    _mapped: MappedFiles = field(init=False)

    def __post_init__(self) -> None:
        self._mapped = MappedFiles(self.folder, (".seg",))

    @property
    def name(self) -> Engine:
        return "whoosh"

    def change(self, added: Iterable[tuple[int, FieldTerms]], removed: Iterable[int]) -> None:
        self._create()
        self.refresh()
        writer = self._index.writer(limitmb=_MEGABYTES_MORE if self._leaves else _MEGABYTES)
        try:
            gone = self._documents(removed)
            for document in gone:
                writer.delete_document(document)
            for key, found in added:
                fields = {name: found[name] for name in FIELDS if found[name]}
                writer.add_document(key=key, size=len(found["body"]), **fields)
        except BaseException:
            writer.cancel()
            raise
        writer.commit(optimize=len(gone) * 4 > self.count())
        self.refresh()

    def refresh(self) -> None:
        self._mapped.check()
        try:
            if self._index is None:
                segments = _Segments(str(self.folder), supports_mmap=False)  # type: ignore[no-untyped-call]
                self._index = index.FileIndex(segments)  # type: ignore[no-untyped-call]
            latest = self._index.latest_generation()
            if latest != self._generation:
                self._mapped.look()
                self._open()
                self._generation = latest
        except _BROKEN as error:
            raise Damaged("{path} cannot be read: {reason}", path=self.folder.name, reason=error) from error

    def search(self, terms: Sequence[str], count: int, allowed: NDArray[np.int64] | None = None) -> list[int]:
        self._mapped.check()
        scores = [np.zeros(len(leaf.keys)) for leaf in self._leaves]
        notes = self.count()
        average = sum(float(leaf.lengths[leaf.live].sum()) for leaf in self._leaves) / max(notes, 1)
        try:
            for term in terms:
                counts = [self._count(leaf, term) for leaf in self._leaves]
                having = sum(int(np.count_nonzero(each)) for each in counts)
                idf = np.log1p((notes - having + 0.5) / (having + 0.5))
                for score, each, leaf in zip(scores, counts, self._leaves, strict=True):
                    score += idf * self._saturated(each, leaf.lengths / max(average, 1e-9))
        except _BROKEN as error:
            raise Damaged("{path} cannot be read: {reason}", path=self.folder.name, reason=error) from error
        keys = np.concatenate([leaf.keys for leaf in self._leaves]) if self._leaves else np.zeros(0, np.int64)
        score = np.concatenate(scores) if scores else np.zeros(0)
        if allowed is not None:
            score = np.where(np.isin(keys, allowed), score, 0.0)
        if len(score) > count * 4:
            best = np.argpartition(-score, count)[:count]
            best = best[np.lexsort((keys[best], -score[best]))]
        else:
            best = np.lexsort((keys, -score))[:count]
        return [int(keys[at]) for at in best if score[at] > 0]

    def count(self) -> int:
        return sum(int(leaf.live.sum()) for leaf in self._leaves)

    def rest(self) -> None:
        """Do nothing: it has no thread of its own."""

    def close(self) -> None:
        for leaf in self._leaves:
            leaf.reader.close()
        self._leaves, self._generation, self._index = [], -1, None

    def _create(self) -> None:
        if not self.folder.is_dir() or not index.exists_in(str(self.folder)):
            make_folder(self.folder)
            number = columns.NumericColumn("q", default=-1)  # type: ignore[no-untyped-call]
            schema = fields.Schema(
                key=fields.COLUMN(number), size=fields.COLUMN(number), **{name: TermsField() for name in FIELDS}
            )
            index.create_in(str(self.folder), schema)

    def _open(self) -> None:
        reader = self._index.reader()
        leaves = []
        for leaf, first in reader.leaf_readers():
            total = leaf.doc_count_all()
            if not total:
                continue
            keys, sizes = (np.array(leaf.column_reader(name).load(), dtype=np.int64) for name in ("key", "size"))
            live = np.ones(total, dtype=bool)
            live[list(leaf.deleted_docs_set)] = False
            leaves.append(_Leaf(leaf, keys, sizes.astype(np.float64), live, first))
        for old in self._leaves:
            old.reader.close()
        self._leaves = leaves

    def _documents(self, notes: Iterable[int]) -> list[int]:
        wanted = np.array(sorted(set(notes)), dtype=np.int64)
        return [
            int(at) + leaf.first
            for leaf in self._leaves
            for at in np.flatnonzero(np.isin(leaf.keys, wanted) & leaf.live)
        ]

    def _count(self, leaf: _Leaf, term: str) -> NDArray[np.float64]:
        """The number of occurrences of a term in each document of a segment, fields weighted."""
        total = np.zeros(len(leaf.keys))
        for name, weight in self.weights.fields.items():
            documents, counts = self._postings(leaf, name, term)
            total[documents] += weight * counts
        return total

    def _postings(self, leaf: _Leaf, name: str, term: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        found = leaf.postings.get((name, term))
        if found is None:
            found = _read_postings(leaf, name, term)
            if len(leaf.postings) > _KEPT:
                leaf.postings.clear()
            leaf.postings[name, term] = found
        return found

    def _saturated(self, count: NDArray[np.float64], length: NDArray[np.float64]) -> NDArray[np.float64]:
        k1, b = self.weights.k1, self.weights.b
        saturated: NDArray[np.float64] = count * (k1 + 1) / (count + k1 * (1 - b + b * length))
        return saturated


def _read_postings(leaf: _Leaf, name: str, term: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The documents of a term in a segment, without deleted ones, and the number of occurrences in each."""
    try:
        matcher = leaf.reader.postings(name, term.encode("utf-8", "replace"))
    except TermNotFound:
        return np.zeros(0, np.int64), np.zeros(0)
    while hasattr(matcher, "child"):  # the filter for deleted documents is slow: it works one at a time
        matcher = matcher.child
    documents: list[int] = []
    counts: list[float] = []
    while matcher.is_active():
        matcher.id(), matcher.weight()  # reads the block
        documents.extend(matcher._ids)
        counts.extend(matcher._weights if matcher._weights is not None else [1.0] * len(matcher._ids))
        if not hasattr(matcher, "_next_block"):
            break  # few postings, stored with the term
        matcher._next_block()
    found = np.array(documents, dtype=np.int64)
    live = leaf.live[found]
    return found[live], np.array(counts, dtype=np.float64)[live]
