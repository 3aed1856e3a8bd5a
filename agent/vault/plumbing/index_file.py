"""The repository's index, read as bytes to answer most questions of a commit without a git process.

Listing the index with git gets slower as the number of notes grows. In most vaults the bytes show that there is no
submodule and no sparse checkout (format: gitformat-index(5)); otherwise git is asked. In very large vaults the index is
split (`split_index`), so that a change reads and writes little of it.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.errors import Permanent
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.object_ids import MODULE
from agent.vault.plumbing.objects import TreeEntry
from agent.vault.plumbing.split_index import MOST, SplitIndex, load_split
from agent.vault.plumbing.whole_index import SMALL, WholeIndex, load_whole

_LINK_MODE = b"\0\0\xe0\0"
"""The mode 160000 in an index entry, as 32 bits."""
_VERSION_2, _VERSION_3 = b"\0\0\0\2", b"\0\0\0\3"

_NAMED = 500
LARGE = 2 << 20
"""Bytes of an index from which it is split, about 20,000 notes: other programs may not know split ones."""
_SHARED = "sharedindex.*"
IndexStamp: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class IndexFile:
    """The bytes of one index. `is_whole`: it has all entries (a split index has most of them in another file).

    `parsed` has its entries, if it is a small or a split index in a form that is read here.
    """

    git: Git
    content: bytes
    is_whole: bool
    parsed: SplitIndex | WholeIndex | None = None

    @property
    def has_full_names(self) -> bool:
        """True if the bytes contain every path in full, as in versions 2 and 3."""
        return self.is_whole and self.content[4:8] in {_VERSION_2, _VERSION_3}

    def blobs(self, paths: Iterable[bytes]) -> dict[bytes, str | None]:
        """The blob id in the index of each path (None: it has none); paths for which git must be asked are left out."""
        if self.parsed is not None:
            entries = ((path, self.parsed.entry(path)) for path in paths)
            return {path: entry.oid if entry is not None else None for path, entry in entries}
        return {path: None for path in paths if not self.content or (self.has_full_names and path not in self.content)}

    def is_to_be_split(self) -> bool:
        """True if git should write the entries into a new base: there are many, or many that differ from the base.

        git's own setting `core.splitIndex` can forbid it.
        """
        if isinstance(self.parsed, SplitIndex):
            return self.parsed.differing >= MOST
        if len(self.content) < LARGE:
            return False
        return self.git.run("config", "--type=bool", "core.splitIndex", ok=(0, 1, 128)).strip() != b"false"

    def edited(self, entries: Mapping[bytes, TreeEntry | None]) -> bytes | None:
        """The bytes of the index with these entries (None: no entry); None if git must write it."""
        if self.parsed is None or self.is_to_be_split():
            return None
        made = self.parsed.with_entries(entries)
        return made.data() if made is not None else None

    def submodules(self, paths: Collection[bytes]) -> set[bytes]:
        """The paths that are submodules in the index."""
        if (parsed := self.parsed) is not None:
            return {path for path in paths if (entry := parsed.entry(path)) is not None and entry.mode == MODULE}
        if self.is_whole and _LINK_MODE not in self.content:
            return set()
        asked = [*paths]
        if self.has_full_names:
            names = self._linked_names()
            asked = [path for path in paths if path in names]
        if not asked:
            return set()
        out = self.git.run("ls-files", "-s", "-z", *_only(asked))
        found = {row.partition(b"\t")[2] for row in out.split(b"\0") if row.startswith(b"160000 ")}
        return found.intersection(paths)

    def skipped(self, paths: Collection[bytes]) -> set[bytes]:
        """The paths that the index marks as excluded from the working tree (mostly by `git sparse-checkout`)."""
        has_marks = not self.is_whole or self.content[4:8] not in {b"", _VERSION_2}  # version 2 has no such mark
        if not paths or self.parsed is not None or not has_marks:
            return set()
        out = self.git.run("ls-files", "-t", "-z", *_only(paths))
        return {row[2:] for row in out.split(b"\0") if row.startswith(b"S ")}.intersection(paths)

    def _linked_names(self) -> set[bytes]:
        """The names at places where an entry with a submodule's mode would have its name; some may be no names."""
        found = set[bytes]()
        content = self.content
        at = content.find(_LINK_MODE)
        while at >= 0:
            flags = at + len(_LINK_MODE) + 12 + self.git.width // 2  # owner, group and size precede the id
            is_extended = bool(content[flags : flags + 1] and content[flags] & 0x40)
            start = flags + (4 if is_extended else 2)
            found.add(content[start : content.find(b"\0", start)])
            at = content.find(_LINK_MODE, at + 1)
        return found


def load_index(git: Git) -> IndexFile:
    """The shared index as it is now; empty bytes if there is none."""
    try:
        content = (git.gitdir / "index").read_bytes()
    except FileNotFoundError:
        return IndexFile(git, b"", True)
    if any(git.gitdir.glob(_SHARED)):
        return IndexFile(git, content, False, load_split(git.gitdir, content, git.width))
    return IndexFile(git, content, True, load_whole(content, git.width) if len(content) <= SMALL else None)


def index_stamp(index: Path) -> IndexStamp | None:
    """The inode, size and time of an index file, to detect a new version; None if there is no file."""
    try:
        status = index.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def is_small(git: Git) -> bool:
    """True if the shared index is so small that it is read here."""
    try:
        return (git.gitdir / "index").stat().st_size <= SMALL
    except OSError:
        return False


def check_not_sparse(git: Git) -> None:
    """Raise `Permanent` in a sparse checkout: a new index of HEAD would show every excluded note as deleted."""
    if git.run("config", "--bool", "core.sparseCheckout", ok=(0, 1)).strip() == b"true":
        raise Permanent(
            "the index of this sparse checkout is lost, and only git knows which notes are kept out of the folder",
            hint="move .git/index away if it is there, then: git read-tree -m HEAD && git sparse-checkout reapply",
        )


def _only(paths: Collection[bytes]) -> list[str]:
    """The arguments that limit a list to the paths; empty if they are too many for a command line."""
    names = [path.decode("utf-8", "surrogateescape") for path in paths]
    return ["--", *names] if len(names) <= _NAMED else []
