"""Sizes and checksums of a folder's files, written last, so that a later reader can detect damaged files.

A keyword engine detects some damage itself, but a flipped byte in a posting only gives wrong answers. An engine writes
its files once, so each is checked once and then recognised by its name.

A process that reads the missing part of a file that is mapped into memory is killed by the system (SIGBUS), with no
error to catch. Such files are written once, so one that became shorter is damaged (`MappedFiles`).
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from zlib import crc32

from agent.config.private import own_files, replace
from agent.dataclass import dataclass
from agent.index.files import Damaged
from agent.json_value import parse_json


@dataclass(slots=True)
class MappedFiles:
    """The files of one folder whose suffix is in `endings`; `_seen` has the inode and length of each."""

    folder: Path
    endings: tuple[str, ...]
    _seen: dict[str, tuple[int, int]] = field(default_factory=dict)

    def look(self) -> None:
        """Record the current files; call it just before or after they are opened."""
        self._seen = {}
        with os.scandir(self.folder) as found:
            for each in found:
                if each.name.endswith(self.endings):
                    with suppress(FileNotFoundError):  # a writer deletes those that it has replaced
                        stat = each.stat()
                        self._seen[each.path] = (stat.st_ino, stat.st_size)

    def check(self) -> None:
        """Raise `Damaged` when a file became shorter; a deleted or replaced one stays complete in memory.

        Takes 2 microseconds per file.
        """
        for path, (inode, size) in self._seen.items():
            try:
                stat = os.stat(path)  # noqa: PTH116 - twice as fast as Path.stat, and done at every search
            except OSError:
                continue
            if stat.st_size < size and stat.st_ino == inode:
                raise Damaged("{folder}/{name} was cut short", folder=self.folder.name, name=Path(path).name)


FILE = "SEAL.json"
_REWRITTEN = frozenset({"meta.json", ".managed.json"})
"""The files that an engine (tantivy) rewrites under the same name; all others are written once."""


@dataclass(slots=True)
class Checksums:
    """The checksums of one folder; files that were already checked are remembered while they are there."""

    folder: Path
    _known: dict[tuple[str, int, int, int], int] = field(default_factory=dict)
    _recorded: dict[str, list[int]] = field(default_factory=dict)

    def write(self, generation: int) -> None:
        """Record the current files, in one atomic step.

        Raises `Damaged` for a file that has changed since it was recorded or verified: an engine that has it open does
        not detect the change, and the file must not be recorded as good.
        """
        before, self._known = self._known, {}
        files = {path.name: [path.stat().st_size, self._sum(path, before)] for path in self._files()}
        for name in self._recorded.keys() & files.keys() - _REWRITTEN:
            if files[name] != self._recorded[name]:
                raise Damaged("{folder}/{name} is damaged", folder=self.folder.name, name=name)
        self._recorded = files
        replace(self.folder / FILE, json.dumps({"generation": generation, "files": files}))
        own_files(self.folder)

    def is_of(self, generation: int) -> bool:
        """True if this generation was recorded."""
        try:
            return int(parse_json((self.folder / FILE).read_text("utf-8"))["generation"]) == generation
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def verify(self) -> None:
        """Raise `Damaged` when a recorded file is missing or changed."""
        try:
            files = parse_json((self.folder / FILE).read_text("utf-8"))["files"]
            before, self._known = self._known, {}
            for name, (size, checksum) in files.items():
                path = self.folder / name
                if path.stat().st_size != size or self._sum(path, before) != checksum:
                    raise Damaged("{folder}/{name} is damaged", folder=self.folder.name, name=name)
            self._recorded = files
        except FileNotFoundError as error:
            raise Damaged(
                "{folder}/{name} is missing", folder=self.folder.name, name=Path(str(error.filename)).name
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Damaged("{path} cannot be read: {reason}", path=f"{self.folder.name}/{FILE}", reason=error) from error

    def _files(self) -> Iterator[Path]:
        for path in sorted(self.folder.iterdir()):
            if path.is_file() and "lock" not in path.name.casefold() and FILE not in path.name:
                yield path

    def _sum(self, path: Path, before: Mapping[tuple[str, int, int, int], int]) -> int:
        """The checksum of a file, which is remembered; read anew unless it was known `before`."""
        stat = path.stat()
        key = (path.name, stat.st_size, stat.st_mtime_ns, stat.st_ino)
        self._known[key] = before[key] if key in before else checksum_of(path)
        return self._known[key]


def checksum_of(path: Path) -> int:
    """The checksum of a file's bytes."""
    total = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            total = crc32(piece, total)
    return total
