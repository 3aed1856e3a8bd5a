"""The files beside notes that the person has named as their own writing (`attachments.mine`), as the settings are now.

A daemon lives longer than a setting: the person's yes to "is this file yours?" comes from another process. So the
settings are read again once their file has changed.
"""

from dataclasses import field
from pathlib import Path

from agent.config.load import load_vault_settings
from agent.config.settings import Settings
from agent.dataclass import dataclass
from agent.errors import ConfigError

_Stamp = tuple[int, int] | None


def named_files(settings: Settings) -> tuple[str, ...]:
    """The paths, folders and patterns in the setting."""
    return tuple(filter(None, map(str.strip, settings.attachments.mine.split(","))))


@dataclass(slots=True)
class OwnFiles:
    """Called, it gives the paths, folders and patterns of one vault; `files` are the machine's settings, and those for
    this vault. While they cannot be read, what was known holds."""

    root: Path
    vault_id: str
    files: tuple[Path, ...]
    known: tuple[str, ...]
    _seen: tuple[_Stamp, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        self._seen = self._stamps()

    def __call__(self) -> tuple[str, ...]:
        seen = self._stamps()
        if seen != self._seen:
            try:
                self.known = named_files(load_vault_settings(self.root, vault_id=self.vault_id).settings)
            except ConfigError:
                return self.known
            self._seen = seen
        return self.known

    def _stamps(self) -> tuple[_Stamp, ...]:
        return tuple(map(_stamp, self.files))


def _stamp(file: Path) -> _Stamp:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
