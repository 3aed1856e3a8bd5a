"""A split index, changed without git: only the few entries that differ from its base are read and written.

git itself reads and writes every entry to change one, so a change takes longer the more notes there are. Only the plain
case is done here: an index of version 2 whose base has all it needs. Everything else is left to git, which splits an
index, joins it, and makes a new base.
"""

import struct
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from agent.dataclass import dataclass
from agent.vault.plumbing import index_extensions
from agent.vault.plumbing.index_base import IndexBase, load_base
from agent.vault.plumbing.index_bits import format_bits, parse_bits
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
