"""The composition root: the only place that reads configuration and builds the parts from it."""

from dataclasses import dataclass
from pathlib import Path

from agent.clock import Clock, SystemClock
from agent.config.directories import Directories, directories
from agent.config.load import Loaded, load
from agent.config.logs import report_from
from agent.config.settings import Settings
from agent.vault.store import Vault, open_vault
from agent.vault.write.brake import Brake
from agent.vault.write.writer import Options


@dataclass(frozen=True, slots=True)
class App:
    """Everything an interface needs to serve one vault."""

    vault: Vault
    settings: Settings
    loaded: Loaded
    clock: Clock
    directories: Directories


def build(root: Path, *, clock: Clock | None = None) -> App:
    """The application for the vault at `root`; raises `NotAVault` or `ConfigError`."""
    loaded = load(root)
    report_from(loaded.settings.log.level)
    clock = clock or SystemClock()
    places = directories()
    vault = open_vault(root, places.state, clock, options(loaded.settings))
    return App(vault, loaded.settings, loaded, clock, places)


def options(settings: Settings) -> Options:
    """What the settings say about writing, as the vault wants it."""
    return Options(
        durable=settings.git.durable,
        human_commits=settings.git.human_commits == "auto",
        quiet_seconds=settings.git.quiet_seconds,
        lock_seconds=settings.git.lock_seconds,
        timeout_seconds=settings.git.timeout_seconds,
        brake=Brake(settings.brake.notes, settings.brake.share),
    )
