"""A split index, changed without git: only the few entries that differ from its base are read and written.

git itself reads and writes every entry to change one, so a change takes longer the more notes there are. Only the plain
case is done here: an index of version 2 whose base has all it needs. Everything else is left to git, which splits an
index, joins it, and makes a new base.

The base of a split index: a sorted list of entries in a file that never changes, searched without reading it whole.

The places of every few entries are kept in a file beside the repository's others. It can be deleted at any moment: a
missing or damaged one is made anew, from all entries.

Sets of numbers as git's compressed bitmaps (EWAH), the form in which a split index names entries of its base.

The format is that of gitformat-bitmap(5), "Appendix A": words of 64 bits, in runs of equal words and literal ones.
"""

import os
import struct
import zlib
from array import array
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from itertools import groupby
from pathlib import Path
from struct import Struct

from agent.config import private
from agent.dataclass import dataclass
from agent.errors import GitFailed
from agent.vault.plumbing import index_extensions
from agent.vault.plumbing.index_extensions import (
    HEADER,
    LINK,
    RESOLVED,
    SIGNATURE,
    VERSION,
    IndexEntry,
    new_entry,
    parse_entries,
    parse_extensions,
    with_extensions,
)
from agent.vault.plumbing.objects import TreeEntry

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


_HEAD, _WORD, _TAIL = Struct(">II"), Struct(">Q"), Struct(">I")
_MOST_SAME, _MOST_LITERAL = (1 << 32) - 1, (1 << 31) - 1


def parse_bits(data: bytes, at: int = 0) -> tuple[frozenset[int], int]:
    """The numbers in a bitmap that begins at `at`, and where it ends; raises `ValueError` or `struct.error`."""
    _, count = _HEAD.unpack_from(data, at)
    at += _HEAD.size
    words = [word for (word,) in _WORD.iter_unpack(data[at : at + count * _WORD.size])]
    if len(words) != count:
        raise ValueError("the bitmap is cut off")
    found, first, position = set[int](), 0, 0
    while position < count:
        mark = words[position]
        same, literal = mark >> 1 & _MOST_SAME, mark >> 33
        if mark & 1:
            found.update(range(first, first + 64 * same))
        first += 64 * same
        for word in words[position + 1 : position + 1 + literal]:
            found.update(first + bit for bit in range(64) if word >> bit & 1)
            first += 64
        position += 1 + literal
    return frozenset(found), at + count * _WORD.size + _TAIL.size


def format_bits(numbers: Collection[int]) -> bytes:
    """The bitmap of these numbers."""
    words, last = [0], 0
    for same, literals in _runs(numbers):
        for start in range(0, max(len(literals), 1), _MOST_LITERAL):
            last = len(words) - 1 if words == [0] and not start else len(words)
            part = literals[start : start + _MOST_LITERAL]
            mark = (0 if start else same << 1) | len(part) << 33
            words[last:] = [mark, *part]
    size = max(numbers, default=-1) + 1
    body = b"".join(map(_WORD.pack, words))
    return _HEAD.pack(size, len(words)) + body + _TAIL.pack(last)


def _runs(numbers: Collection[int]) -> Iterator[tuple[int, list[int]]]:
    """Pairs of a number of empty words and the literal words after them."""
    words: dict[int, int] = {}
    for number in numbers:
        words[number // 64] = words.get(number // 64, 0) | 1 << number % 64
    expected = 0
    for _, run in groupby(enumerate(sorted(words)), lambda pair: pair[1] - pair[0]):
        places = [place for _, place in run]
        yield places[0] - expected, [words[place] for place in places]
        expected = places[-1] + 1


MOST = 2_000
"""Entries that differ from the base, at most; with more, git makes a new base."""
_READ = 20 * MOST


@dataclass(frozen=True, slots=True)
class SplitIndex:
    """The base, the numbers of its deleted entries, its replaced ones by number, and the added ones by name."""

    base: IndexBase
    deleted: frozenset[int] = frozenset()
    replaced: Mapping[int, IndexEntry] = field(default_factory=dict)
    added: Mapping[bytes, IndexEntry] = field(default_factory=dict)
    extensions: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def width(self) -> int:
        """The number of hex digits of an id."""
        return len(self.base.id)

    @property
    def differing(self) -> int:
        """The number of entries that are not those of the base."""
        return len(self.replaced) + len(self.added)

    def entry(self, path: bytes) -> IndexEntry | None:
        """The entry at the path; None if the index does not have it."""
        if path in self.added:
            return self.added[path]
        found = self.base.find(path)
        if found is None or found[0] in self.deleted:
            return None
        return self.replaced.get(found[0], found[1])

    def with_entries(self, entries: Mapping[bytes, TreeEntry | None]) -> "SplitIndex | None":
        """The index with these entries (None: no entry); None if a file and a folder would have the same name."""
        index: SplitIndex | None = self
        for path, entry in entries.items():
            if index is not None:
                index = index._without(path) if entry is None else index._with(path, entry)
        if index is None:
            return None
        return replace(index, extensions=index_extensions.kept(index.extensions, entries, self.width))

    def _without(self, path: bytes) -> "SplitIndex":
        added = {name: entry for name, entry in self.added.items() if name != path}
        found = self.base.find(path)
        if found is None:
            return replace(self, added=added)
        replaced = {number: entry for number, entry in self.replaced.items() if number != found[0]}
        return replace(self, deleted=self.deleted | {found[0]}, replaced=replaced, added=added)

    def _with(self, path: bytes, entry: TreeEntry) -> "SplitIndex | None":
        made = new_entry(entry.mode, entry.oid, path)
        found = None if path in self.added else self.base.find(path)
        if found is not None and found[0] not in self.deleted:
            return replace(self, replaced={**self.replaced, found[0]: made})
        if path not in self.added and self._is_in_the_way(path):
            return None
        return replace(self, added={**self.added, path: made})

    def _is_in_the_way(self, path: bytes) -> bool:
        """True if there is a file where the path has a folder, or files below the path."""
        above = path
        while b"/" in above:
            above = above.rpartition(b"/")[0]
            if self.entry(above) is not None:
                return True
        below = path + b"/"
        if any(name.startswith(below) for name in self.added):
            return True
        for number, entry in self.base.from_name(below):
            if not entry.name.startswith(below):
                break
            if number not in self.deleted:
                return True
        return False

    def data(self) -> bytes:
        """The bytes of the index's own file."""
        count = self.differing
        parts = [HEADER.pack(SIGNATURE, VERSION, count)]
        parts += [entry.bytes_with(b"") for _, entry in sorted(self.replaced.items(), key=lambda each: each[0])]
        parts += [entry.bytes_with(name) for name, entry in sorted(self.added.items(), key=lambda each: each[0])]
        link = bytes.fromhex(self.base.id) + format_bits(self.deleted) + format_bits(self.replaced)
        return with_extensions(parts, ((LINK, link), *self.extensions), self.width)


def load_split(gitdir: Path, content: bytes, width: int) -> SplitIndex | None:
    """The index whose own file has this content; None if it is not split, or in a form that is left to git."""
    try:
        return _parse(gitdir, content, width) if LINK in content else None
    except (OSError, ValueError, struct.error):
        return None


def _parse(gitdir: Path, content: bytes, width: int) -> SplitIndex | None:
    signature, version, count = HEADER.unpack_from(content)
    if signature != SIGNATURE or version != VERSION or count > _READ:
        return None
    found = [*parse_entries(content, HEADER.size, count, width)]
    entries, at = [entry for entry, _ in found], found[-1][1] if found else HEADER.size
    extensions = parse_extensions(content, at, width)
    link = dict(extensions).get(LINK, b"")
    kept = tuple((name, data) for name, data in extensions if name != LINK)
    is_known = all(name in {index_extensions.TREES, RESOLVED} for name, _ in kept)
    if not link or not is_known or not all(entry.is_plain for entry in entries):
        return None
    base = load_base(gitdir, link[: width // 2].hex())
    if base is None:
        return None
    deleted, replaced = _bitmaps(link[width // 2 :])
    numbers = sorted(replaced)
    new, rest = entries[: len(numbers)], entries[len(numbers) :]
    if len(new) < len(numbers) or any(entry.name for entry in new) or not all(entry.name for entry in rest):
        return None
    return SplitIndex(base, deleted, dict(zip(numbers, new, strict=True)), {entry.name: entry for entry in rest}, kept)


def _bitmaps(data: bytes) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of the deleted and of the replaced entries."""
    if not data:
        return frozenset(), frozenset()
    deleted, end = parse_bits(data)
    return deleted, parse_bits(data, end)[0]
