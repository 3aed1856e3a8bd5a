"""The snapshot of a vault's files: the content hash of each, and its size, times and inode when it was read.

A file with the same size, times and inode is not read again. Two writes within one clock tick can leave the same times,
so the times of a file that changed just before it was read are not trusted (git does the same). `scan` reads the disk.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Self

from agent.dataclass import dataclass

COARSE_NS = 2_000_000_000
"""The step of the coarsest timestamps in use (FAT)."""
FINE_NS = 100_000_000
"""Ten times the step of timestamps with digits below 10 ms, which is at most one tick of the kernel."""
_CENTISECOND = 10_000_000


class FileStat(NamedTuple):
    """Size, times and inode of a file; times in nanoseconds."""

    size: int
    modified: int
    changed: int
    inode: int


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was last read. `stat` is None when only the hash is known, or when its times cannot be trusted."""

    hash: str
    stat: FileStat | None


class Snapshot:
    """The known files by path, relative to the vault. About 500 bytes per file."""

    def __init__(self, files: Mapping[str, KnownFile]) -> None:
        self._files = dict(files)

    @classmethod
    def of(cls, hashes: Mapping[str, str]) -> Self:
        """A snapshot of content hashes only: each file has to be read once to be compared."""
        return cls({path: KnownFile(each, None) for path, each in hashes.items()})

    def __len__(self) -> int:
        return len(self._files)

    def get(self, path: str) -> KnownFile | None:
        """The known state of a file; None if it is not known."""
        return self._files.get(path)

    def looks_the_same(self, path: str, stat: FileStat) -> bool:
        """True if size, times and inode are unchanged, so the file need not be read."""
        seen = self._files.get(path)
        return seen is not None and seen.stat == stat

    def record(self, path: str, hash: str, stat: FileStat, now_ns: int) -> None:
        """Record a file that was read at `now_ns` (wall clock, nanoseconds)."""
        step = FINE_NS if stat.modified % _CENTISECOND and stat.changed % _CENTISECOND else COARSE_NS
        trusted = max(stat.modified, stat.changed) < now_ns - step
        self.put(path, KnownFile(hash, stat if trusted else None))

    def put(self, path: str, seen: KnownFile) -> None:
        """Set the known state of a file."""
        self._files[path] = seen

    def forget(self, path: str) -> None:
        """Remove a file."""
        self._files.pop(path, None)

    def below(self, folder: str) -> Iterator[str]:
        """The known paths below a folder; all for the empty name."""
        start = f"{folder}/" if folder else ""
        return (path for path in self._files if path.startswith(start))
