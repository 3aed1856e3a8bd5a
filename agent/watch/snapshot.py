"""The snapshot of a vault's files: the content hash of each, and its size, times and inode when it was read.

A file whose size, times and inode are the same is not read again. Two writes within one tick of the clock can leave the
same times, so those of a file that had changed just before it was read are not trusted (git does the same).
The disk is read by `scan`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

FRESH_NS = 2_000_000_000
"""The coarsest time stamps in use are two seconds apart (FAT)."""


class FileStat(NamedTuple):
    """Size, times and inode of a file; times in nanoseconds."""

    size: int
    modified: int
    changed: int
    inode: int


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was last read. `stat` is None when only the hash is known, or when the look cannot be trusted."""

    hash: str
    stat: FileStat | None


class Snapshot:
    """Everything known, by path relative to the vault. About 500 bytes a file."""

    def __init__(self, files: Mapping[str, KnownFile]) -> None:
        self._files = dict(files)

    @classmethod
    def of(cls, hashes: Mapping[str, str]) -> Self:
        """What a caller knows by content hash alone: each file has to be read once to be compared."""
        return cls({path: KnownFile(each, None) for path, each in hashes.items()})

    def __len__(self) -> int:
        return len(self._files)

    def get(self, path: str) -> KnownFile | None:
        """What is known of a file."""
        return self._files.get(path)

    def looks_the_same(self, path: str, stat: FileStat) -> bool:
        """Whether there is no need to read the file."""
        seen = self._files.get(path)
        return seen is not None and seen.stat == stat

    def record(self, path: str, hash: str, stat: FileStat, now_ns: int) -> None:
        """A file was read at `now_ns` (wall clock, nanoseconds)."""
        trusted = max(stat.modified, stat.changed) < now_ns - FRESH_NS
        self.put(path, KnownFile(hash, stat if trusted else None))

    def put(self, path: str, seen: KnownFile) -> None:
        """Know this of a file."""
        self._files[path] = seen

    def forget(self, path: str) -> None:
        """A file is gone."""
        self._files.pop(path, None)

    def below(self, folder: str) -> Iterator[str]:
        """The known paths in a folder and its folders; all for the empty name."""
        start = f"{folder}/" if folder else ""
        return (path for path in self._files if path.startswith(start))
