"""The base of a split index: a sorted list of entries in a file that never changes, searched without reading it whole.

The places of every few entries are kept in a file beside the repository's others. It can be deleted at any moment: a
missing or damaged one is made anew, from all entries.
"""

import os
import zlib
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from agent.config import private
from agent.dataclass import dataclass
from agent.errors import GitFailed
from agent.vault.plumbing.index_extensions import HEADER, SIGNATURE, VERSION, IndexEntry, parse_entries

_EACH = 64
"""Entries of which one has its place kept."""
_FORMAT = "index-base 1"
_LONGEST = 200


@dataclass(frozen=True, slots=True, eq=False)
class IndexBase:
    """The base with this id (hex). `places` are the offsets of every few entries, and of the end."""

    gitdir: Path
    id: str
    count: int
    places: tuple[int, ...]
    _firsts: dict[int, bytes] = field(default_factory=dict)
    _open: list["_Descriptor"] = field(default_factory=list)

    @property
    def _descriptor(self) -> "_Descriptor":
        if not self._open:
            self._open.append(_Descriptor(_file(self.gitdir, self.id)))
        return self._open[0]

    def find(self, name: bytes) -> tuple[int, IndexEntry] | None:
        """The entry with this name and its number in the base."""
        number, entry = next(self.from_name(name), (0, None))
        return (number, entry) if entry is not None and entry.name == name else None

    def from_name(self, name: bytes) -> Iterator[tuple[int, IndexEntry]]:
        """The entries from this name on, with their numbers."""
        low, high = 0, len(self.places) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if self._first(middle) <= name:
                low = middle
            else:
                high = middle
        for block in range(low, len(self.places) - 1):
            for position, entry in enumerate(self._block(block)):
                if entry.name >= name:
                    yield block * _EACH + position, entry

    def _first(self, block: int) -> bytes:
        """The name of the block's first entry."""
        if block not in self._firsts:
            self._firsts[block] = next(self._block(block)).name
        return self._firsts[block]

    def _block(self, block: int) -> Iterator[IndexEntry]:
        start, end = self.places[block], self.places[block + 1]
        data = os.pread(self._descriptor.number, end - start, start)
        count = min(_EACH, self.count - block * _EACH)
        try:
            for entry, _ in parse_entries(data, 0, count, len(self.id)):
                yield entry
        except ValueError as error:
            raise GitFailed("index", -1, f"sharedindex.{self.id} is damaged: {error}") from error


class _Descriptor:
    """An open file, closed with the last use of it."""

    def __init__(self, path: Path) -> None:
        self.number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def __del__(self) -> None:
        with suppress(AttributeError, OSError):
            os.close(self.number)


def load_base(gitdir: Path, oid: str) -> IndexBase | None:
    """The base with this id (hex); None if it has entries in conflict, or of another version than 2.

    Raises `OSError` if it is missing, and `ValueError` or `struct.error` for another form.
    """
    kept = gitdir / "vault-agent" / "index-base"
    size = _file(gitdir, oid).stat().st_size
    known = _load(kept, oid, size)
    if known is None:
        known = _look_through(_file(gitdir, oid).read_bytes(), len(oid))
        body = known.tobytes()
        with suppress(OSError):  # a full disk only makes the next look slow
            private.replace_bytes(kept, _first_line(oid, size, body) + body)
    if not known:
        return None
    return IndexBase(gitdir, oid, known[-1], tuple(known[:-1]))


def _file(gitdir: Path, oid: str) -> Path:
    return gitdir / f"sharedindex.{oid}"


def _look_through(content: bytes, width: int) -> "array[int]":
    """The places of the entries, where they end, and their number; empty if they are not all plain."""
    signature, version, count = HEADER.unpack_from(content)
    if signature != SIGNATURE:
        raise ValueError("this is no index")
    places = array("Q")
    if version != VERSION or not count:
        return places
    at = HEADER.size
    for number, (entry, end) in enumerate(parse_entries(content, at, count, width)):
        if not entry.is_plain:
            return array("Q")
        if number % _EACH == 0:
            places.append(at)
        at = end
    places.extend((at, count))
    return places


def _load(file: Path, oid: str, size: int) -> "array[int] | None":
    try:
        with file.open("rb") as opened:
            first, body = opened.readline(_LONGEST), opened.read()
    except OSError:
        return None
    places = array("Q")
    if first != _first_line(oid, size, body) or len(body) % places.itemsize:
        return None
    places.frombytes(body)
    return places


def _first_line(oid: str, size: int, body: bytes) -> bytes:
    return f"{_FORMAT} {oid} {size} {zlib.crc32(body):08x}\n".encode()
