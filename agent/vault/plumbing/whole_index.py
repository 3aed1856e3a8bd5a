"""A small index that is not split, read and changed without git: a process of its own takes longer than the change.

Only the plain case is done here: version 2, no entry in conflict or with further marks, no extension that says what is
in the working tree. Everything else is left to git, and so is an index whose sum is not right.
"""

import struct
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from agent.dataclass import dataclass
from agent.vault.plumbing import index_folders
from agent.vault.plumbing.index_extensions import (
    HEADER,
    RESOLVED,
    SIGNATURE,
    VERSION,
    IndexEntry,
    new_entry,
    parse_entries,
    parse_extensions,
    with_extensions,
)
from agent.vault.plumbing.object_ids import hasher
from agent.vault.plumbing.objects import TreeEntry, folders

SMALL = 32 << 10
"""Bytes up to which an index is read here, about 350 notes: reading it and writing a changed one takes 1.5 ms of
processor time, as a process of git does that only starts and ends."""


@dataclass(frozen=True, slots=True)
class WholeIndex:
    """The entries by name, in any order, and the extensions. `width` is the number of hex digits of an id."""

    entries: Mapping[bytes, IndexEntry]
    extensions: tuple[tuple[bytes, bytes], ...]
    width: int

    def entry(self, path: bytes) -> IndexEntry | None:
        """The entry at the path; None if the index does not have it."""
        return self.entries.get(path)

    def with_entries(self, entries: Mapping[bytes, TreeEntry | None]) -> "WholeIndex | None":
        """The index with these entries (None: no entry); None if a file and a folder would have the same name."""
        made = dict(self.entries)
        for path, entry in entries.items():
            if entry is None:
                made.pop(path, None)
            else:
                made[path] = new_entry(entry.mode, entry.oid, path)
        new = [path for path in entries if path in made and path not in self.entries]
        if new and not (made.keys().isdisjoint(folders(new)) and frozenset(folders(made)).isdisjoint(new)):
            return None
        return replace(self, entries=made, extensions=index_folders.kept(self.extensions, entries, self.width))

    def data(self) -> bytes:
        """The bytes of the index file."""
        parts = [HEADER.pack(SIGNATURE, VERSION, len(self.entries))]
        parts += [entry.bytes_with(name) for name, entry in sorted(self.entries.items(), key=lambda each: each[0])]
        return with_extensions(parts, self.extensions, self.width)


@lru_cache(maxsize=2)
def load_whole(content: bytes, width: int) -> WholeIndex | None:
    """The index with this content; None if it is large, or in a form that is left to git.

    The last one is remembered: each change looks at it two or three times.
    """
    end = len(content) - width // 2
    if not HEADER.size < end or len(content) > SMALL:
        return None
    digest = hasher(width)
    digest.update(content[:end])
    if digest.digest() != content[end:]:
        return None
    try:
        signature, version, count = HEADER.unpack_from(content)
        if signature != SIGNATURE or version != VERSION:
            return None
        found = [*parse_entries(content, HEADER.size, count, width)]
        extensions = parse_extensions(content, found[-1][1] if found else HEADER.size, width)
    except (ValueError, struct.error):
        return None
    entries = {entry.name: entry for entry, _ in found}
    is_known = all(name in {index_folders.TREES, RESOLVED} for name, _ in extensions)
    if not is_known or len(entries) != len(found) or not all(entry.is_plain for entry in entries.values()):
        return None
    return WholeIndex(entries, extensions, width)
