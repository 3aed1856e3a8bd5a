"""The repository's index, read as bytes to answer most questions of a commit without a git process.

Listing the index with git gets slower as the number of notes grows. In most vaults the bytes show that there is no
submodule and no sparse checkout (format: gitformat-index(5)); otherwise git is asked. git alone writes it.
"""

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeAlias

from agent.dataclass import dataclass
from agent.errors import Permanent, Retryable
from agent.git.index_lock import keep_index_lock
from agent.git.objects import TreeEntry, index_lines
from agent.git.runner import Git

_LINK_MODE = b"\0\0\xe0\0"
"""The mode 160000 in an index entry, as 32 bits."""
_VERSION_2, _VERSION_3 = b"\0\0\0\2", b"\0\0\0\3"

_NAMED = 500
_SHARED = "sharedindex.*"
IndexStamp: TypeAlias = tuple[int, int, int]


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

    def absent(self, paths: Iterable[bytes]) -> set[bytes]:
        """The paths that have no entry; for the others git must be asked."""
        return {path for path in paths if not self.content or (self.has_full_names and path not in self.content)}

    @property
    def form(self) -> tuple[str, ...]:
        """The option with which git writes the index: a split one is joined, unless `core.splitIndex` asks for it.

        Vaults of more than 20,000 notes have split ones from earlier versions. Of one that is split, git is asked more.
        """
        if self.is_whole:
            return ()
        wanted = self.git.run("config", "--type=bool", "core.splitIndex", ok=(0, 1, 128)).strip() == b"true"
        return () if wanted else ("--no-split-index",)

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
        has_marks = not self.is_whole or self.content[4:8] not in {b"", _VERSION_2}  # version 2 has no such mark
        if not paths or not has_marks:
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
    return IndexFile(git, content, not any(_is_base(content, path) for path in git.gitdir.glob(_SHARED)))


def _is_base(content: bytes, path: Path) -> bool:
    """True if the index names this file as its base; also of a file with a name that git does not give."""
    try:
        return bytes.fromhex(path.name.partition(".")[2]) in content
    except ValueError:
        return True


def index_stamp(index: Path) -> IndexStamp | None:
    """The inode, size and time of an index file, to detect a new version; None if there is no file."""
    try:
        status = index.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


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


def _link(index: Path, private: Path) -> None:
    """Make the private index of the shared one: git never writes into an index, it puts a new file in its place.

    It is never a symbolic link: git would write to what that names. A copy has the time of the index: git needs it to
    find files that changed within the same clock tick.
    """
    try:
        private.unlink(missing_ok=True)
        private.hardlink_to(index.resolve())
    except OSError:  # a file system without links
        shutil.copy2(index, private)


class ExcludedFiles(Protocol):
    """The versions of files that the last commit has and the working tree is not to have."""

    @property
    def paths(self) -> Collection[bytes]:
        """Their paths in the repository."""
        ...

    def has(self, path: bytes, oid: str) -> bool:
        """True if this version of a file, by its blob's id, is left out."""
        ...


LoadExcluded: TypeAlias = Callable[[Path], ExcludedFiles]
"""What is left out now, for the folder of a repository."""


class IndexChanged(Retryable):
    """Another program changed the shared index, or took its lock, while the new index was being made."""


@dataclass(frozen=True, slots=True)
class SharedIndex:
    """The index of one repository, for one transaction, which `token` names."""

    git: Git
    token: str
    excluded: LoadExcluded

    @contextmanager
    def put_back(self) -> Iterator[None]:
        """Restore the old file of the shared index if the block fails; needs neither git nor disk space.

        Only this program's own index file is replaced: a newer one of another program stays.
        """
        index, before, after = self._files()
        try:
            yield
        except Exception:
            with suppress(OSError):
                if after.exists() and after.samefile(index):
                    if before.exists():
                        before.replace(index)
                    else:
                        index.unlink(missing_ok=True)
            raise
        finally:
            for link in (before, after):
                with suppress(OSError):
                    link.unlink(missing_ok=True)

    def _files(self) -> tuple[Path, Path, Path]:
        """The shared index, a hard link to the one found there, and a hard link to this program's new one."""
        gitdir = self.git.gitdir
        return (
            gitdir / "index",
            gitdir / f"vault-agent-index-before.{self.token}",
            gitdir / f"vault-agent-index-after.{self.token}",
        )

    def _swap(self, private: Path, seen: "IndexStamp | None") -> None:
        """Replace the shared index by `private`; raises `IndexChanged` if it has changed since `private` was made."""
        index, before, after = self._files()
        if not keep_index_lock(self.git.gitdir, self.token) or index_stamp(index) != seen:
            raise IndexChanged("another program has changed git's index", hint="try again when it is done")
        with suppress(OSError):  # without the hard links, only the restore after a failure is lost
            if seen is not None and not (after.exists() and after.samefile(index)):
                before.unlink(missing_ok=True)
                before.hardlink_to(index)
            after.unlink(missing_ok=True)
            after.hardlink_to(private)
        private.replace(index)

    @contextmanager
    def changed(self, entries: Mapping[bytes, TreeEntry | None], refresh: bool) -> Iterator[None]:
        """Prepare the shared index, and install it after the block: it must never refer to a missing object."""
        index = self.git.gitdir / "index"
        private = self.git.gitdir / f"vault-agent-index.{self.token}"
        keep_index_lock(self.git.gitdir, self.token)
        try:
            seen = index_stamp(index)
            known = load_index(self.git)
            self._edit(private, seen is not None, known, entries)
            if refresh:
                self.git.run("update-index", "-q", "--refresh", index=private, ok=(0, 1), drivers_off=True)
            yield
            self._swap(private, seen)
        finally:
            private.unlink(missing_ok=True)

    def _edit(self, private: Path, is_there: bool, known: IndexFile, entries: Mapping[bytes, TreeEntry | None]) -> None:
        """Have git write the new index: from the one that is there, or from HEAD."""
        if is_there:
            _link(self.git.gitdir / "index", private)
        else:
            check_not_sparse(self.git)
            self.git.run("read-tree", "HEAD", index=private, ok=(0, 128))
        marked = self._marked(private, is_there, known, entries)
        command, lines = ("update-index", *known.form, "-z", "--index-info"), index_lines(entries, self.git.width)
        self.git.run(*command, stdin=lines, index=private, drivers_off=True)
        if marked:
            stay = b"".join(path + b"\0" for path in sorted(marked))
            self.git.run("update-index", "-z", "--skip-worktree", "--stdin", stdin=stay, index=private)

    def _marked(
        self, private: Path, is_there: bool, known: IndexFile, entries: Mapping[bytes, TreeEntry | None]
    ) -> set[bytes]:
        """The paths to be marked as left out of the working tree: those that were, and what is left out now."""
        held = self.excluded(self.git.gitdir)
        marked = known.skipped([*entries]).difference(held.paths)
        marked |= {path for path, entry in entries.items() if entry is not None and held.has(path, entry.oid)}
        if is_there or not held.paths:
            return marked
        rows = self.git.run("ls-files", "-s", "-z", index=private).split(b"\0")
        found = ((row.partition(b"\t")[2], row.split(b" ")) for row in rows if row)
        in_head = {
            path: TreeEntry(mode.decode(), oid.decode()) for path, (mode, oid, *_) in found if path not in entries
        }
        return marked | {path for path, entry in in_head.items() if entry is not None and held.has(path, entry.oid)}
