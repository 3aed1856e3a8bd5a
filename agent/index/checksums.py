"""Whether the files of an index are the bytes that were written: a list of sizes and checksums, written last.

Engines notice some damage and not other; a flipped byte in a posting only gives wrong answers. Files of an engine are
written once, so each is read once and then known by its name.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from agent.config.private import own_files, replace
from agent.index.damage import Damaged

SEAL = "SEAL.json"
_REWRITTEN = frozenset({"meta.json", ".managed.json"})
"""The files that an engine (tantivy) writes again under the same name; all others it writes once."""


@dataclass(slots=True)
class Checksums:
    """The seal of one folder; remembers the files that it has read already."""

    folder: Path
    known: dict[tuple[str, int, int, int], int] = field(default_factory=dict)
    _sealed: dict[str, list[int]] = field(default_factory=dict)

    def write(self, generation: int) -> None:
        """Seal the folder as it is, atomically; raises `Damaged` for a file that is not what it was when it was sealed
        or verified before: an engine that has it open does not notice, and it must not count as good from now on."""
        files = {path.name: [path.stat().st_size, self._sum(path)] for path in self._files()}
        for name in self._sealed.keys() & files.keys() - _REWRITTEN:
            if files[name] != self._sealed[name]:
                raise Damaged(f"{self.folder.name}/{name} is damaged")
        self._sealed = files
        replace(self.folder / SEAL, json.dumps({"generation": generation, "files": files}))
        own_files(self.folder)

    def generation(self) -> int:
        """The generation that was sealed, -1 when there is no whole seal."""
        try:
            return int(json.loads((self.folder / SEAL).read_text("utf-8"))["generation"])
        except (OSError, ValueError, KeyError, TypeError):
            return -1

    def verify(self) -> None:
        """Raises `Damaged` when a sealed file is missing or changed."""
        try:
            files = json.loads((self.folder / SEAL).read_text("utf-8"))["files"]
            for name, (size, checksum) in files.items():
                path = self.folder / name
                if path.stat().st_size != size or self._sum(path) != checksum:
                    raise Damaged(f"{self.folder.name}/{name} is damaged")
            self._sealed = files
        except FileNotFoundError as error:
            raise Damaged(f"{self.folder.name}/{Path(str(error.filename)).name} is missing") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Damaged(f"{self.folder.name}/{SEAL} cannot be read: {error}") from error

    def _files(self) -> Iterator[Path]:
        for path in sorted(self.folder.iterdir()):
            if path.is_file() and "lock" not in path.name.casefold() and SEAL not in path.name:
                yield path

    def _sum(self, path: Path) -> int:
        stat = path.stat()
        key = (path.name, stat.st_size, stat.st_mtime_ns, stat.st_ino)
        if key not in self.known:
            self.known[key] = checksum_of(path)
        return self.known[key]


def checksum_of(path: Path) -> int:
    """The checksum of a file's bytes."""
    total = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            total = crc32(piece, total)
    return total
