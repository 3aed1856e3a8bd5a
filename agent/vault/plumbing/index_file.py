"""The repository's index, read as bytes to answer most questions of a commit without a git process.

Listing the index with git gets slower as the number of notes grows. In most vaults the bytes show that there is no
submodule and no sparse checkout (format: gitformat-index(5)); otherwise git is asked.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from agent.errors import Permanent
from agent.vault.plumbing.git import Git

_LINK_MODE = b"\0\0\xe0\0"
"""The mode 160000 in an index entry, as 32 bits."""
_VERSION_2, _VERSION_3 = b"\0\0\0\2", b"\0\0\0\3"

_NAMED = 500


@dataclass(frozen=True, slots=True)
class IndexFile:
    """The bytes of one index. `is_whole`: it has all entries (a split index has most of them in another file)."""

    git: Git
    content: bytes
    is_whole: bool

    @property
    def has_full_names(self) -> bool:
        """True if the bytes contain every path in full, as in versions 2 and 3."""
        return self.is_whole and self.content[4:8] in {_VERSION_2, _VERSION_3}

    def may_hold(self, paths: Iterable[bytes]) -> list[bytes]:
        """The paths that may be in the index: those whose names the bytes contain."""
        return [path for path in paths if not self.has_full_names or path in self.content]

    def submodules(self, paths: Collection[bytes]) -> set[bytes]:
        """The paths that are submodules in the index."""
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
        if not paths or (self.is_whole and self.content[4:8] in {b"", _VERSION_2}):  # version 2 has no such mark
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
    return IndexFile(git, content, not any(git.gitdir.glob("sharedindex.*")))


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
