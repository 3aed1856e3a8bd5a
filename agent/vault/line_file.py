"""A file to which several processes add lines, and what was added since the last look."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

from agent.clock import Clock
from agent.config.lock import hold
from agent.config.private import make_folder
from agent.dataclass import dataclass
from agent.errors import Permanent
from agent.vault import durable


@dataclass(slots=True)
class LineFile:
    """The file at `path`; the first `append` creates it. The caller keeps threads apart. All methods raise what
    `unusable` makes of an `OSError`.

    `is_durable`: an added line is on disk when `append` returns. `lines` counts those that were read.
    """

    path: Path
    unusable: Callable[[Path, OSError], Permanent]
    is_durable: bool
    lines: int = field(default=0, init=False)
    _inode: int = field(default=0, init=False)
    _offset: int = field(default=0, init=False)
    _is_torn: bool = field(default=False, init=False)

    def news(self) -> tuple[bool, Sequence[bytes]] | None:
        """The whole lines that were added since the last call, without their ends; True before them if the file is
        another one, so that what was known of it counts no more. None where there is no file."""
        with self.usable(), suppress(FileNotFoundError), self.path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_ino == self._inode and status.st_size == self._offset:
                return False, ()
            is_other = status.st_ino != self._inode or status.st_size < self._offset
            if is_other:
                self._inode, self._offset, self.lines = status.st_ino, 0, 0
            file.seek(self._offset)
            data = file.read()
            whole = data.rfind(b"\n") + 1
            found = data[:whole].split(b"\n")[:-1]
            self._offset += whole
            self._is_torn = whole < len(data)
            self.lines += len(found)
            return is_other, found
        return None

    def append(self, line: str) -> None:
        """Add a line, given without its end. Call `news` before: a line that a crash has cut off is ended first."""
        text = ("\n" if self._is_torn else "") + line + "\n"
        with self.usable():
            make_folder(self.path.parent)
            if self.is_durable:
                durable.append(self.path, text)
                return
            with self.path.open("ab") as file:
                file.write(text.encode("utf-8", "replace"))

    @contextmanager
    def locked(self, clock: Clock, patience: float) -> Iterator[bool]:
        """Be the only process that has the file's lock; False where another one still has it after `patience`
        seconds."""
        with self.usable():
            make_folder(self.path.parent)
            with hold(self.path.with_suffix(".lock"), clock, patience) as held:
                yield held is not None

    @contextmanager
    def usable(self) -> Iterator[None]:
        """Raise what `unusable` makes of an `OSError` in the block."""
        try:
            yield
        except OSError as error:
            raise self.unusable(self.path, error) from error
