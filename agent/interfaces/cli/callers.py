"""The commands that a daemon answers as their own process would.

It refuses where that would answer otherwise: another version, other settings, other variables.
"""

import os
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from agent.config.directories import VAULT_FILE
from agent.dataclass import dataclass
from agent.interfaces.cli.entry import DRAWING, relevant, version
from agent.interfaces.cli.language import terminal_language
from agent.interfaces.http.command_line import Caller
from agent.interfaces.http.problems import RequestRefused
from agent.texts import Language
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Callers:
    """The commands that this daemon answers as their own process would: those that agree with it as it was started, in
    `version`, `settings` and `environ`."""

    workspace: Workspace
    version: list[str | int]
    settings: list[tuple[int, int]]
    environ: Mapping[str, str]

    @classmethod
    def of(cls, workspace: Workspace) -> "Callers":
        """Those that agree with this process as it is now."""
        return cls(workspace, version(), _settings(workspace), relevant(os.environ))

    def check(self, caller: Caller, *, draws: bool = False) -> None:
        """Raise `RequestRefused` for one that would answer otherwise; one that `draws` may have another terminal."""
        unseen = DRAWING if draws else ()
        has, wants = (
            {name: value for name, value in each.items() if name not in unseen}
            for each in (self.environ, caller.environ)
        )
        is_same = (has, self.version, self.settings) == (wants, caller.version, _settings(self.workspace))
        if not is_same or caller.root != os.path.realpath(self.workspace.vault.place.root):
            raise RequestRefused(HTTPStatus.CONFLICT, "another process has to answer this command")

    @property
    def has_same_settings(self) -> bool:
        """True if no file of settings has changed since the daemon was started."""
        return self.settings == _settings(self.workspace)

    def language(self, caller: Caller, *, is_document: bool) -> Language:
        """The language in which the caller is told what there is to tell."""
        found = terminal_language(["--vault", caller.root], {**caller.environ, **caller.locale})
        return "en" if is_document else found


def _settings(workspace: Workspace) -> list[tuple[int, int]]:
    """What differs when the settings are changed: when each of their files was, and its size."""
    places = workspace.directories
    vault = workspace.vault
    files = (vault.place.root / VAULT_FILE, places.settings_file, places.settings_of(vault.id), places.keys)
    return [_stamp(each) for each in files]


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
