"""The directories for this machine's settings, caches and state, and the clock of this process."""

import os
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path

from agent.clock import Clock, SetClock, SystemClock
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.platform.here import platform

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
    def crashes(self) -> Path:
        """The folder of what failed unexpectedly."""
        return self.state / "crashes"

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
    home = platform().plain_home(os.environ)
    if not home:
        return None

    def place(variable: str, below: str) -> Path:
        named = os.environ.get(variable, "")
        return Path(named if named.startswith("/") else os.path.join(home, below), APPLICATION)  # noqa: PTH118

    return Directories(
        place("XDG_CONFIG_HOME", ".config"), place("XDG_CACHE_HOME", ".cache"), place("XDG_STATE_HOME", ".local/state")
    )


START, RATE = "VAULT_AGENT_CLOCK__START", "VAULT_AGENT_CLOCK__RATE"
VARIABLES = frozenset((START, RATE))
_FASTEST, _SLOWEST = 100_000.0, 0.001
_YEARS = range(1971, 2500)
"""The years in which it may start: ids count from 1970, and dates end with the year 9999."""


def is_clock_set(environ: Mapping[str, str] | None = None) -> bool:
    """True if a variable sets the clock of this process."""
    environ = os.environ if environ is None else environ
    return any(environ.get(name) for name in VARIABLES)


def process_clock(environ: Mapping[str, str] | None = None) -> Clock:
    """The clock of this process; raises `ConfigError` for a variable that is no time or no number."""
    environ = os.environ if environ is None else environ
    if not is_clock_set(environ):
        return SystemClock()
    return _set_clock(environ.get(START, ""), environ.get(RATE, ""))


@cache
def _set_clock(start: str, rate: str) -> SetClock:
    """One clock for each pair of values: all parts of a process see the same time."""
    return SetClock.from_now(_start(start) if start else None, _rate(rate))


def _start(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
        if found.year in _YEARS:
            return found.astimezone()
    except (ValueError, OverflowError):
        pass
    raise ConfigError(
        "{variable} is no time: {text!r}",
        hint="write it as 2026-11-23T09:00, or with an offset as 2026-11-23T09:00+01:00",
        variable=START,
        text=text,
    )


def _rate(text: str) -> float:
    try:
        rate = float(text or 1)
        if _SLOWEST <= rate <= _FASTEST:
            return rate
    except ValueError:
        pass
    raise ConfigError(
        "{variable} is no number of times as fast: {text!r}",
        hint="write a number from {least:g} to {most:g}, such as 60",
        variable=RATE,
        text=text,
        least=_SLOWEST,
        most=_FASTEST,
    )
