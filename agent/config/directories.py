"""The directories of the machine's own files: settings, caches and state, all of them outside every vault."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

APPLICATION = "vault-agent"

VAULT_FILE = "vault-agent.yaml"
"""The settings that travel with a vault, in its root; the file that makes a folder a vault."""


@dataclass(frozen=True, slots=True)
class Directories:
    """Absolute paths; none of them need exist yet."""

    config: Path
    """Machine settings; the person edits these."""

    cache: Path
    """What can be computed again and may be deleted at any moment."""

    state: Path
    """Journals, locks and logs: must survive a restart."""

    @property
    def settings_file(self) -> Path:
        """The machine settings."""
        return self.config / "config.yaml"


def directories(environ: Mapping[str, str] | None = None) -> Directories:
    """The platform's directories for us, or all three under `VAULT_AGENT_HOME` when that is set."""
    environ = os.environ if environ is None else environ
    home = environ.get("VAULT_AGENT_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return Directories(root / "config", root / "cache", root / "state")
    from platformdirs import PlatformDirs

    platform = PlatformDirs(APPLICATION, appauthor=False)
    return Directories(platform.user_config_path, platform.user_cache_path, platform.user_state_path)
