"""The last versions of notes that were read, so that two quick edits are each compared with the one before.

Bounded in bytes, oldest out first; an older version has to come from elsewhere (`Facts.earlier`).
"""

from collections import OrderedDict
from dataclasses import dataclass, field


@dataclass(slots=True)
class Recent:
    """Contents by path and hash; holds at most `limit` bytes of them."""

    limit: int
    size: int = 0
    _kept: OrderedDict[str, tuple[str, bytes]] = field(default_factory=OrderedDict)

    def get(self, path: str, hash: str) -> bytes | None:
        """The version of this hash that was read last at this path."""
        known = self._kept.get(path)
        return known[1] if known is not None and known[0] == hash else None

    def put(self, path: str, hash: str, data: bytes) -> None:
        """Keep the version that a path has now, in place of the one before."""
        self.drop(path)
        if len(data) > self.limit:
            return
        self._kept[path] = (hash, data)
        self.size += len(data)
        while self.size > self.limit:
            _, (_, oldest) = self._kept.popitem(last=False)
            self.size -= len(oldest)

    def drop(self, path: str) -> None:
        """The path is gone."""
        known = self._kept.pop(path, None)
        if known is not None:
            self.size -= len(known[1])
