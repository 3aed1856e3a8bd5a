"""A cache of the last read versions of notes, so that each of two quick edits is compared with the version before it.

Limited in bytes, oldest removed first; `Facts.earlier` loads older versions.
"""

from collections import OrderedDict
from dataclasses import field

from agent.dataclass import dataclass

REST = 1 << 16
"""Bytes that `rest` keeps: of notes as people write them, the last twenty."""


@dataclass(slots=True)
class Recent:
    """Contents by path and hash, at most `limit` bytes in total."""

    limit: int
    size: int = 0
    _kept: OrderedDict[str, tuple[str, bytes]] = field(default_factory=OrderedDict)

    def get(self, path: str, hash: str) -> bytes | None:
        """The last read version of this path, if it has this hash; else None."""
        known = self._kept.get(path)
        return known[1] if known is not None and known[0] == hash else None

    def put(self, path: str, hash: str, data: bytes) -> None:
        """Store the current version of a path in place of the previous one."""
        self.drop(path)
        if len(data) > self.limit:
            return
        self._kept[path] = (hash, data)
        self.size += len(data)
        self._shrink(self.limit)

    def rest(self) -> None:
        """Keep only the versions read last, and the very last whatever its size: when no burst goes on, older ones are
        hardly asked for, and would fill the whole cache over weeks."""
        self._shrink(REST, least=1)

    def drop(self, path: str) -> None:
        """Remove the version of a path."""
        known = self._kept.pop(path, None)
        if known is not None:
            self.size -= len(known[1])

    def _shrink(self, limit: int, least: int = 0) -> None:
        while self.size > limit and len(self._kept) > least:
            _, (_, oldest) = self._kept.popitem(last=False)
            self.size -= len(oldest)
