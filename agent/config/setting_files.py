"""Whether the settings' files may have changed: asked every few seconds, at a hundredth of the cost of loading them."""

import os
from pathlib import Path

from agent.config.directories import VAULT_FILE, directories
from agent.dataclass import dataclass

_Look = tuple[int, int, int, int]
"""A file's size, times and inode."""
_SURE = 2
"""How often the files are read after a change, a look each, so that a second change within one step of the file
system's clock is read by the later one."""


@dataclass(slots=True)
class SettingFiles:
    """The files from which the settings of one vault come, the vault's and the two of the machine, as they were looked
    at last.

    Variables are not looked at: those of a process do not change.
    """

    files: tuple[Path, ...]
    _seen: tuple[_Look | None, ...] | None = None
    _read: int = 0

    @classmethod
    def of(cls, vault: Path, vault_id: str) -> "SettingFiles":
        """The files for the vault with this root and id."""
        places = directories()
        return cls((vault / VAULT_FILE, places.settings_file, places.settings_of(vault_id)))

    def may_have_changed(self) -> bool:
        """True if the files have to be read: looks that are two seconds apart or more miss no change."""
        now = tuple(map(_look, self.files))
        if now != self._seen:
            self._seen, self._read = now, 0
        return self._read < _SURE

    def were_read(self) -> None:
        """The files were read since they were looked at, and nothing was wrong with them."""
        self._read += 1


def _look(path: Path) -> _Look | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - every few seconds, for ever
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
