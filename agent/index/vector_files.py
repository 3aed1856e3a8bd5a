"""The files of the chunk vectors: three columns that only ever grow, in one folder, with what is valid of them.

heads   for each chunk: its note, the checksum of its row, and its signs about the middle of all (`signs`)
rows    for each chunk: 8 bits a dimension
gone    the places of the chunks that were removed

Bytes that were valid once are never written again, so a reader needs no lock: the state that it has read from the
passage store says how much of each column is valid, and with which checksum. What an update wrote before it was
stopped lies behind that, and the next one writes over it. Whoever has read a column up to some place reads only what
came after. Nothing is mapped into memory: reading a mapped file that something cut short kills the process.
"""

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from agent.config.private import FILE, make_folder
from agent.dataclass import dataclass
from agent.index.files import Damaged
from agent.index.nearest import SmallRows
from agent.index.signs import Middle, pack_signs, sign_words
from agent.json_value import parse_json

Entries: TypeAlias = NDArray[Any]
"""Entries of a column: of `heads` with the fields `note`, `sum` and `signs`, of `rows` and `gone` plain numbers."""
_PIECE = 1 << 22
"""Bytes that are read at once."""
_BUFFER = 1 << 18
"""Bytes that are read at once where some entries of many are wanted: they stay in the processor's cache."""
_FEW = 16
"""Up to so many entries, each is read alone."""


@dataclass(frozen=True, slots=True)
class ColumnExtent:
    """The valid part of a column: its entries, and the checksum of their bytes."""

    count: int = 0
    checksum: int = 0


@dataclass(frozen=True, slots=True)
class VectorState:
    """What is valid: `name` is that of the folder, which a new one never shares with an old one.

    `middle` is what the signs are about, `sums` are those of the rows that are there; one number for each dimension.
    """

    name: str
    dimensions: int
    middle: tuple[int, ...]
    sums: tuple[int, ...]
    heads: ColumnExtent = ColumnExtent()
    rows: ColumnExtent = ColumnExtent()
    gone: ColumnExtent = ColumnExtent()

    def to_json(self) -> str:
        columns = [[each.count, each.checksum] for each in (self.heads, self.rows, self.gone)]
        return json.dumps([self.name, self.dimensions, columns, self.middle, self.sums])


def new_state(dimensions: int, middle: Middle | None = None) -> VectorState:
    """Nothing, in a folder that does not exist; without a middle, its signs are about zero."""
    zeros = (0,) * dimensions
    about = zeros if middle is None else tuple(middle.tolist())
    return VectorState(os.urandom(6).hex(), dimensions, about, zeros)


def parse_state(text: str, dimensions: int) -> VectorState:
    """The state in the passage store; raises `Damaged` for none, or for vectors of other dimensions."""
    try:
        name, found, columns, *numbers = parse_json(text)
        heads, rows, gone = (ColumnExtent(int(count), int(checksum)) for count, checksum in columns)
        middle, sums = (tuple(int(number) for number in each) for each in numbers)
    except (ValueError, TypeError) as error:
        raise Damaged("the vectors are missing") from error
    if found != dimensions:
        raise Damaged("the vectors have {found} dimensions instead of {dimensions}", found=found, dimensions=dimensions)
    return VectorState(str(name), dimensions, middle, sums, heads, rows, gone)


@dataclass(frozen=True, slots=True)
class VectorColumn:
    """One column's file: `kind` is the type of an entry, which may be several numbers."""

    path: Path
    kind: np.dtype[Any]

    @property
    def name(self) -> str:
        """The file as the person is told of it."""
        return f"{self.path.parent.name}/{self.path.name}"

    def read(self, since: ColumnExtent, to: ColumnExtent) -> Iterator[Entries]:
        """The entries that came after `since`, piece by piece.

        Raises `Damaged` at the latest after the last piece, when they are not those that were written.
        """
        size, checksum = self.kind.itemsize, since.checksum
        left = (to.count - since.count) * size
        if not left:
            return
        try:
            with self.path.open("rb", buffering=0) as file:
                file.seek(since.count * size)
                while left:
                    wanted = min(left, max(_PIECE // size, 1) * size)
                    data = file.read(wanted)
                    if len(data) < wanted:
                        raise Damaged("{path} was cut short", path=self.name)
                    checksum, left = crc32(data, checksum), left - wanted
                    yield np.frombuffer(data, self.kind)
        except OSError as error:
            raise Damaged("{path} cannot be read: {reason}", path=self.name, reason=error) from error
        if checksum != to.checksum:
            raise Damaged("{path} is damaged", path=self.name)

    def read_all(self, since: ColumnExtent, to: ColumnExtent) -> Entries:
        """The same as one array."""
        return np.concatenate([np.zeros(0, self.kind), *self.read(since, to)])

    def read_at(self, places: NDArray[np.intp]) -> Entries:
        """The entries at some places, in their order; whether they are those that were written is not asked.

        Thousands of them stand so near each other that the file is read through one buffer in half the time of a call
        for each. Raises `Damaged` when it ends before one of them.
        """
        kind, shape = self.kind.subdtype or (self.kind, ())
        together = max(_BUFFER // self.kind.itemsize, 1) if len(places) > _FEW else 1
        buffer, found = np.empty((together, *shape), kind), np.empty((len(places), *shape), kind)
        order = np.argsort(places, kind="stable")
        piece, within = np.divmod(places[order], together)
        begins = np.flatnonzero(np.diff(piece, prepend=-1)).tolist()
        try:
            with self.path.open("rb", buffering=0) as file:
                for begin, end in pairwise([*begins, len(places)]):
                    read = os.preadv(file.fileno(), [buffer.data], int(piece[begin]) * together * self.kind.itemsize)
                    if read < (within[end - 1] + 1) * self.kind.itemsize:
                        raise Damaged("{path} was cut short", path=self.name)
                    found[order[begin:end]] = buffer[within[begin:end]]
        except OSError as error:
            raise Damaged("{path} cannot be read: {reason}", path=self.name, reason=error) from error
        return found

    def append(self, after: ColumnExtent, entries: Entries) -> ColumnExtent:
        """Write entries behind the valid ones; returns what is valid with them. Raises `Damaged` when some of those
        before are not there."""
        make_folder(self.path.parent)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE)
        with os.fdopen(descriptor, "rb+", buffering=0) as file:
            end = after.count * self.kind.itemsize
            if os.fstat(descriptor).st_size < end:
                raise Damaged("{path} was cut short", path=self.name)
            file.seek(end)
            left = memoryview(entries.tobytes())
            checksum = crc32(left, after.checksum)
            while left:
                left = left[file.write(left) :]
        return ColumnExtent(after.count + len(entries), checksum)

    def shorten(self, to: ColumnExtent) -> None:
        """Remove what is behind some entries; does nothing without it."""
        end = to.count * self.kind.itemsize
        if self.path.is_file() and self.path.stat().st_size > end:
            os.truncate(self.path, end)


@dataclass(frozen=True, slots=True)
class VectorColumns:
    """The three columns of one folder."""

    heads: VectorColumn
    rows: VectorColumn
    gone: VectorColumn


def columns_of(folder: Path, dimensions: int) -> VectorColumns:
    """The columns in a folder, which may not exist."""
    head = np.dtype([("note", "<u4"), ("sum", "<u4"), ("signs", "<u8", (sign_words(dimensions),))])
    return VectorColumns(
        VectorColumn(folder / "heads", head),
        VectorColumn(folder / "rows", np.dtype(("i1", (dimensions,)))),
        VectorColumn(folder / "gone", np.dtype("<u4")),
    )


def make_heads(notes: NDArray[np.uint32], rows: SmallRows, middle: Middle, kind: np.dtype[Any]) -> Entries:
    """The entries of `heads` for some chunks."""
    heads = np.zeros(len(rows), kind)
    heads["note"] = notes
    heads["sum"] = [crc32(row) for row in rows]
    heads["signs"] = pack_signs(rows > middle)
    return heads
