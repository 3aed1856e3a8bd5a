"""The snapshot of a vault's files: the content hash of each, and its size, times and inode when it was read.

A file with the same size, times and inode is not read again. Two writes within one clock tick can leave the same times,
so the times of a file that changed just before it was read are not trusted (git does the same). `scan` reads the disk.

A cache of the last read versions of notes, so that each of two quick edits is compared with the version before it.

Limited in bytes, oldest removed first; `Facts.earlier` loads older versions.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from struct import Struct
from typing import NamedTuple, Self, TypeVar

from agent.dataclass import dataclass

REST = 1 << 16
"""Bytes that `rest` keeps: of notes as people write them, the last twenty."""


@dataclass(slots=True)
class Recent:
    """Contents by path and hash, at most `limit` bytes in total."""

    limit: int
    size: int = 0
    _versions: OrderedDict[str, tuple[str, bytes]] = field(default_factory=OrderedDict)

    def get(self, path: str, hash: str) -> bytes | None:
        """The last read version of this path, if it has this hash; else None."""
        known = self._versions.get(path)
        return known[1] if known is not None and known[0] == hash else None

    def put(self, path: str, hash: str, data: bytes) -> None:
        """Store the current version of a path in place of the previous one."""
        self.drop(path)
        if len(data) > self.limit:
            return
        self._versions[path] = (hash, data)
        self.size += len(data)
        self._shrink(self.limit)

    def rest(self) -> None:
        """Keep only the versions read last, and the very last whatever its size: when no burst goes on, older ones are
        hardly asked for, and would fill the whole cache over weeks."""
        self._shrink(REST, least=1)

    def drop(self, path: str) -> None:
        """Remove the version of a path."""
        known = self._versions.pop(path, None)
        if known is not None:
            self.size -= len(known[1])

    def _shrink(self, limit: int, least: int = 0) -> None:
        while self.size > limit and len(self._versions) > least:
            _, (_, oldest) = self._versions.popitem(last=False)
            self.size -= len(oldest)


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
_NO_FILES: Mapping[str, KnownFile] = {}
_LOOK = Struct("<3qQ")
"""A `FileStat`."""
_NO_LOOK = _LOOK.pack(-1, 0, 0, 0)
_SHA_1, _SHA_256 = 20, 32
"""Bytes of git's content hashes."""


class Snapshot:
    """The known files by path, relative to the vault; about 200 bytes for each.

    All but the paths is in two blocks of bytes, which are written over: objects that each save replaces would lie among
    what a burst of saves leaves, and keep all of its memory.
    """

    def __init__(self, files: Mapping[str, KnownFile] = _NO_FILES) -> None:
        self._fill([*files], [each.hash for each in files.values()], [each.stat for each in files.values()])

    def _fill(self, paths: Sequence[str], hashes: Sequence[str], looks: Iterable[FileStat | None]) -> None:
        self._places = dict(zip(paths, range(len(paths)), strict=True))
        self._looks = bytearray().join([_LOOK.pack(*stat) if stat is not None else _NO_LOOK for stat in looks])
        self._width = _SHA_256 if hashes and len(hashes[0]) == 2 * _SHA_256 else _SHA_1
        self._digests, self._texts = bytearray(), dict[int, str]()
        joined = "".join(hashes)
        if {*map(len, hashes)} == {2 * self._width} and (digests := _digest(joined)):
            self._digests += digests
        else:
            for place, hash in enumerate(hashes):
                self._set_hash(place, hash)
        self._free: list[int] = []

    @classmethod
    def of(cls, hashes: Mapping[str, str], looks: Mapping[str, FileStat | None] = _NO_LOOKS, at_ns: int = 0) -> Self:
        """A snapshot of content hashes. A file has to be read once to be compared, unless `looks` has its `FileStat`
        from `at_ns` (wall clock, nanoseconds), and the hash is of a content that it had then or later."""

        old = at_ns - COARSE_NS
        known = {path: stat for path, stat in looks.items() if path in hashes}  # of 100,000, as quickly as can be
        for path, stat in known.items():
            if stat is not None and (stat[2] >= old or stat[1] >= old) and not is_settled(stat, at_ns):
                known[path] = None
        if len(known) < len(hashes):
            known |= dict.fromkeys(hashes.keys() - known.keys())
        made = cls()
        made._fill([*known], [*map(hashes.__getitem__, known)], known.values())
        return made

    def __len__(self) -> int:
        return len(self._places)

    def get(self, path: str) -> KnownFile | None:
        """The known state of a file; None if it is not known."""
        place = self._places.get(path)
        if place is None:
            return None
        look = self._looks[place * _LOOK.size : (place + 1) * _LOOK.size]
        hash = self._texts.get(place)
        if hash is None:
            hash = self._digests[place * self._width : (place + 1) * self._width].hex()
        return KnownFile(hash, None if look == _NO_LOOK else FileStat(*_LOOK.unpack(look)))

    def differing(self, looks: Mapping[str, Look]) -> dict[str, Look]:
        """Those of the files that have to be read: size, times or inode have changed, or are not known."""
        place_of, known, pack, size = self._places.get, self._looks, _LOOK.pack, _LOOK.size
        found: dict[str, Look] = {}
        for path, stat in looks.items():
            place = place_of(path)
            if place is None or stat is None or known[(at := place * size) : at + size] != pack(*stat):
                found[path] = stat
        return found

    def record(self, path: str, hash: str, stat: FileStat, now_ns: int) -> None:
        """Record a file that was read at `now_ns` (wall clock, nanoseconds)."""
        self.put(path, KnownFile(hash, stat if is_settled(stat, now_ns) else None))

    def put(self, path: str, seen: KnownFile) -> None:
        """Set the known state of a file."""
        place = self._places.get(path)
        if place is None:
            place = self._places[path] = self._free.pop() if self._free else len(self._looks) // _LOOK.size
        at = place * _LOOK.size
        self._looks[at : at + _LOOK.size] = _NO_LOOK if seen.stat is None else _LOOK.pack(*seen.stat)
        self._set_hash(place, seen.hash)

    def forget(self, path: str) -> None:
        """Remove a file."""
        place = self._places.pop(path, None)
        if place is not None:
            self._free.append(place)

    def paths(self) -> list[str]:
        """All known paths; any thread may ask."""
        return list(self._places)

    def below(self, folder: str) -> Iterator[str]:
        """The known paths below a folder; all for the empty name."""
        start = f"{folder}/" if folder else ""
        return (path for path in self._places if path.startswith(start))

    def _set_hash(self, place: int, hash: str) -> None:
        digest = _digest(hash)
        if len(digest) == self._width:
            self._texts.pop(place, None)
        else:  # such as the mark of a large file
            self._texts[place], digest = hash, bytes(self._width)
        at = place * self._width
        self._digests[at : at + self._width] = digest


def _digest(hash: str) -> bytes:
    """The bytes of a content hash; none for any other text."""
    try:
        digest = bytes.fromhex(hash)
    except ValueError:
        return b""
    return digest if digest.hex() == hash else b""
