"""The directories for this machine's settings, caches and state, all outside of any vault."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from agent.dataclass import dataclass

APPLICATION = "vault-agent"

VAULT_FILE = "vault-agent.yaml"
"""The file in a vault's root with its portable settings; a folder with this file is a vault."""


@dataclass(frozen=True, slots=True)
class Directories:
    """Absolute paths, which may not exist yet."""

    config: Path
    """Machine settings; the person edits these."""

    cache: Path
    """Data that can be computed again and may be deleted at any time."""

    state: Path
    """Journals, locks and logs: must survive a restart."""

    @property
    def settings_file(self) -> Path:
        """The file of the machine settings."""
        return self.config / "config.yaml"

    def settings_of(self, vault_id: str) -> Path:
        """The file of this machine's settings for one vault."""
        return self.config / "vaults" / f"{vault_id}.yaml"

    @property
    def keys(self) -> Path:
        """The folder of the files that hold one key each."""
        return self.config / "keys"


def directories(environ: Mapping[str, str] | None = None) -> Directories:
    """The platform's directories for the program, or all three under `VAULT_AGENT_HOME` when that is set."""
    environ = os.environ if environ is None else environ
    home = environ.get("VAULT_AGENT_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return Directories(root / "config", root / "cache", root / "state")
    if (found := _on_linux()) is not None:
        return found
    from platformdirs import PlatformDirs

    platform = PlatformDirs(APPLICATION, appauthor=False)
    return Directories(platform.user_config_path, platform.user_cache_path, platform.user_state_path)


def _on_linux() -> Directories | None:
    """The XDG directories, as `platformdirs` finds them, which takes longer to load than a note to read; None where it
    knows more: elsewhere than on Linux, and without a home."""
    home = os.environ.get("HOME", "")
    if sys.platform != "linux" or "ANDROID_DATA" in os.environ or not home.startswith("/"):
        return None

    def place(variable: str, below: str) -> Path:
        given = os.environ.get(variable, "")
        return Path(given if given.startswith("/") else os.path.join(home, below), APPLICATION)  # noqa: PTH118

    return Directories(
        place("XDG_CONFIG_HOME", ".config"), place("XDG_CACHE_HOME", ".cache"), place("XDG_STATE_HOME", ".local/state")
    )
