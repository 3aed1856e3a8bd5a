"""The index that this program shares with a person's git: a changed one is prepared aside, and put in its place.

Must be used with the index lock held, which another program may ignore: a change of the index meanwhile is noticed.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import Retryable
from agent.vault.held_back import load_held_back
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.index_file import IndexFile, IndexStamp, check_not_sparse, index_stamp, load_index
from agent.vault.plumbing.index_lock import keep_index_lock
from agent.vault.plumbing.objects import TreeEntry, index_lines


class IndexChanged(Retryable):
    """Another program changed the shared index, or took its lock, while the new index was being made."""


@dataclass(frozen=True, slots=True)
class SharedIndex:
    """The index of one repository, for one transaction, which `token` names."""

    git: Git
    token: str

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
            held = load_held_back(self.git.gitdir)
            is_marked = any(entry is not None and held.has(path, entry.oid) for path, entry in entries.items())
            made = None if refresh or seen is None or is_marked else known.edited(entries)
            if made is not None:
                self._write(private, made)
            else:
                self._edit(private, seen is not None, known, entries)
            if refresh:
                self.git.run("update-index", "-q", "--refresh", index=private, ok=(0, 1), drivers_off=True)
            yield
            self._swap(private, seen)
        finally:
            private.unlink(missing_ok=True)

    def _write(self, private: Path, content: bytes) -> None:
        """Write the new index, with the mode and the time of the one that is there."""
        with private.open("wb") as file:
            file.write(content)
            file.flush()
            if self.git.durable:
                os.fsync(file.fileno())
        shutil.copystat(self.git.gitdir / "index", private)

    def _edit(self, private: Path, is_there: bool, known: IndexFile, entries: Mapping[bytes, TreeEntry | None]) -> None:
        """Have git write the new index: from the one that is there, or from HEAD."""
        if is_there:
            # Keep the index's own time: git needs it to find files that changed within the same clock tick.
            shutil.copy2(self.git.gitdir / "index", private)
        else:
            check_not_sparse(self.git)
            self.git.run("read-tree", "HEAD", index=private, ok=(0, 128))
        marked = self._marked(private, is_there, known, entries)
        command = ["update-index", *(["--split-index"] if known.is_to_be_split() else []), "-z", "--index-info"]
        self.git.run(*command, stdin=index_lines(entries, self.git.width), index=private, drivers_off=True)
        if marked:
            stay = b"".join(path + b"\0" for path in sorted(marked))
            self.git.run("update-index", "-z", "--skip-worktree", "--stdin", stdin=stay, index=private)

    def _marked(
        self, private: Path, is_there: bool, known: IndexFile, entries: Mapping[bytes, TreeEntry | None]
    ) -> set[bytes]:
        """The paths that are to be marked as left out of the working tree: those that were, and what is held back."""
        held = load_held_back(self.git.gitdir)
        apart = {path.encode("utf-8", "surrogateescape") for path, _ in held.files}
        marked = known.skipped([*entries]) - apart
        marked |= {path for path, entry in entries.items() if entry is not None and held.has(path, entry.oid)}
        if is_there or not held.files:
            return marked
        rows = self.git.run("ls-files", "-s", "-z", index=private).split(b"\0")
        found = ((row.partition(b"\t")[2], row.split(b" ")) for row in rows if row)
        in_head = {
            path: TreeEntry(mode.decode(), oid.decode()) for path, (mode, oid, *_) in found if path not in entries
        }
        return marked | {path for path, entry in in_head.items() if entry is not None and held.has(path, entry.oid)}
