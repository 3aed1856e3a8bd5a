"""The snapshot of a vault's files: the content hash of each, and its size, times and inode when it was read.

A file with the same size, times and inode is not read again. Two writes within one clock tick can leave the same times,
so the times of a file that changed just before it was read are not trusted (git does the same). `scan` reads the disk.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Self, TypeVar

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


def is_settled(stat: FileStat, now_ns: int) -> bool:
    """True if no write after `now_ns` (wall clock, nanoseconds) can leave these times."""
    step = FINE_NS if stat.modified % _CENTISECOND and stat.changed % _CENTISECOND else COARSE_NS
    return max(stat.modified, stat.changed) < now_ns - step


class KnownFile(NamedTuple):
    """A file as it was last read. `stat` is None when only the hash is known, or when its times cannot be trusted."""

    hash: str
    stat: FileStat | None


Look = TypeVar("Look", FileStat, FileStat | None)
_NO_LOOKS: Mapping[str, FileStat | None] = {}


class Snapshot:
    """The known files by path, relative to the vault. About 500 bytes per file."""

    def __init__(self, files: dict[str, KnownFile]) -> None:
        self._files = files

    @classmethod
    def of(cls, hashes: Mapping[str, str], looks: Mapping[str, FileStat | None] = _NO_LOOKS, at_ns: int = 0) -> Self:
        """A snapshot of content hashes. A file has to be read once to be compared, unless `looks` has its `FileStat`
        from `at_ns` (wall clock, nanoseconds), and the hash is of a content that it had then or later."""

        old, files = at_ns - COARSE_NS, dict[str, KnownFile]()
        for path, stat in looks.items():  # of 100,000, as quickly as can be
            if (hash := hashes.get(path)) is not None:
                if stat is not None and (stat.changed >= old or stat.modified >= old) and not is_settled(stat, at_ns):
                    stat = None
                files[path] = KnownFile(hash, stat)
        if len(files) < len(hashes):
            files |= {path: KnownFile(hash, None) for path, hash in hashes.items() if path not in files}
        return cls(files)

    def __len__(self) -> int:
        return len(self._files)

    def get(self, path: str) -> KnownFile | None:
        """The known state of a file; None if it is not known."""
        return self._files.get(path)

    def looks_the_same(self, path: str, stat: FileStat) -> bool:
        """True if size, times and inode are unchanged, so the file need not be read."""
        seen = self._files.get(path)
        return seen is not None and seen.stat == stat

    def differing(self, looks: Mapping[str, Look]) -> dict[str, Look]:
        """Those of the files that have to be read, as `looks_the_same` says."""
        get = self._files.get
        return {path: stat for path, stat in looks.items() if (seen := get(path)) is None or seen.stat != stat}

    def record(self, path: str, hash: str, stat: FileStat, now_ns: int) -> None:
        """Record a file that was read at `now_ns` (wall clock, nanoseconds)."""
        self.put(path, KnownFile(hash, stat if is_settled(stat, now_ns) else None))

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
