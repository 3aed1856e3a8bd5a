"""The open vault with its settings, as every command needs it; imports no module that is slow to load."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.clock import Clock, in_machine_seconds
from agent.config.directories import VAULT_FILE, Directories, directories, process_clock
from agent.config.durable import holder, process_lock
from agent.config.load import Loaded, load_vault_settings
from agent.config.logs import keep_out_of_logs, report_from
from agent.config.masking import KnownSecrets, keep_out_of_print
from agent.config.private import own_folder
from agent.config.receiving_limits import ReceivingLimits
from agent.config.secrets import from_keyring, known_secrets, not_looked_up
from agent.config.settings import Settings
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.json_value import parse_json
from agent.lazy import later
from agent.texts import Sentence
from agent.vault.folders import agent_folder
from agent.vault.layout import DAEMON_LOCK
from agent.vault.options import Brake, Options, no_files
from agent.vault.store import Vault, open_vault

if TYPE_CHECKING:
    from agent.attachments.cache import ExtractedTexts
else:
    ExtractedTexts = later("agent.attachments.cache", "ExtractedTexts")


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Workspace:
    """The values that an interface needs to serve one vault.

    `clock` says when something is due. The vault's own has the same dates, but measures and waits in the machine's
    seconds, also where the first was set to run faster: runs, tools and locks go by it.
    """

    vault: Vault
    settings: Settings
    loaded: Loaded
    clock: Clock
    directories: Directories

    @property
    def whole(self) -> "Workspace":
        """The same with the notes that the person keeps from the agent, for what the owner alone sees."""
        return replace(self, vault=self.vault.whole)

    @property
    def unasked(self) -> "Workspace":
        """The same for work that nobody has asked for: what it writes waits for the evening's commit."""
        return replace(self, vault=self.vault.unasked)

    @property
    def cache(self) -> Path:
        """The folder of data that can be computed again from this vault; may be deleted at any moment."""
        return self.directories.cache / self.vault.id

    @property
    def texts(self) -> "ExtractedTexts":
        """The texts of the files that are no notes."""
        return ExtractedTexts(self.cache / "attachments", int(self.settings.attachments.largest_megabytes * 1_000_000))

    @property
    def daemon_state(self) -> Path:
        """The JSON file with the daemon's last state; valid only while the daemon's lock is held."""
        return self.vault.private_folder / "daemon.json"

    @property
    def metrics(self) -> Path:
        """The folder of the counts of events in this vault."""
        return self.vault.private_folder / "metrics"

    @property
    def daemon_lock(self) -> Path:
        """The lock file that the vault's daemon holds while it runs."""
        return self.vault.private_folder / DAEMON_LOCK


def load_workspace(root: Path, *, clock: Clock | None = None) -> Workspace:
    """The workspace of the vault at `root`; raises `NotAVault` or `ConfigError`."""
    loaded = load_vault_settings(root, options)
    clock = clock or process_clock()
    places = directories()
    report_from(loaded.settings.log.level, places.crashes, clock)
    for folder in (places.cache, places.config):
        if folder.exists():
            own_folder(folder)
    mine = OwnFiles(root)
    vault = open_vault(root, places.state, in_machine_seconds(clock), options(loaded.settings, mine))
    of_vault = places.settings_of(vault.id)
    if of_vault.exists():
        loaded = load_vault_settings(root, options, vault_id=vault.id)
    mine.follow(vault.id, (places.settings_file, of_vault), loaded.settings)
    loaded = loaded.with_unfollowed(*_moved_folder(vault, loaded.settings))
    for warning in loaded.unfollowed:
        logger.warning("%s", warning)
    workspace = Workspace(vault, loaded.settings, loaded, clock, places)
    learn_secrets(workspace, not_looked_up)
    return workspace


def _moved_folder(vault: Vault, settings: Settings) -> Iterator[Sentence]:
    """The warning that the vault's settings name another folder than the one where the agent's notes are."""
    wanted = agent_folder(settings.vault.folder)
    if wanted.path != vault.home.path:
        yield Sentence(
            "vault.folder in {file} is {here} now, but the agent's notes are in {known}, and that holds; "
            "write `folder: {again}` there again, or move the agent's folders and notes first",
            file=VAULT_FILE,
            here=wanted.path or Sentence("the root"),
            known=vault.home.path or Sentence("the root"),
            again=vault.home.path or "/",
        )


def learn_secrets(workspace: Workspace, lookup: Callable[[str], str | None] = from_keyring) -> tuple[str, ...]:
    """Mask the secrets of the settings and the environment in all that this process writes, logs and prints.

    Returns their values. The default `lookup` opens the keyring, which may prompt the person: use it only for a key.
    """
    known = workspace.vault.known
    settings = workspace.settings
    known.learn(known_secrets(settings.secrets, lookup=lookup, addresses=settings.addresses))
    keep_out_of_logs(known.values)
    keep_out_of_print(known.values)
    return known.values


def reload_settings(workspace: Workspace) -> Workspace:
    """The workspace with the current settings of runs; raises `ConfigError`.

    For a process that runs for weeks, while the person changes the model or a limit. The settings with which the vault
    and the index were opened stay.
    """
    vault, opened = workspace.vault, workspace.settings
    now = load_vault_settings(vault.place.root, options, vault_id=vault.id).settings
    settings = now.with_sections(
        git=opened.git, brake=opened.brake, index=opened.index, watch=opened.watch, attachments=opened.attachments
    )
    fresh = replace(workspace, settings=settings)
    learn_secrets(fresh, not_looked_up)
    return fresh


def receiving_limits(settings: Settings) -> ReceivingLimits:
    """The most that git may bring here at once, from the settings."""
    git = settings.git
    note, fetch = (int(megabytes * 1_000_000) for megabytes in (git.largest_megabytes, git.fetch_megabytes))
    return ReceivingLimits(git.most_files, git.deepest_folder, note, fetch)


def options(settings: Settings, mine: Callable[[], Sequence[str]] = no_files) -> Options:
    """The vault's options for writing, from the settings; `mine` gives the files that are the person's own writing."""
    return Options(
        mine=mine,
        home=agent_folder(settings.vault.folder),
        language=settings.vault.language,
        views=True,
        durable=settings.git.durable,
        human_commits=settings.git.human_commits == "auto",
        quiet_seconds=settings.git.quiet_seconds,
        lock_seconds=settings.git.lock_seconds,
        timeout_seconds=settings.git.timeout_seconds,
        brake=Brake(settings.brake.notes, settings.brake.share),
        largest=int(settings.git.largest_megabytes * 1_000_000),
        binaries=settings.git.binaries,
        largest_embedded=int(settings.git.embedded_megabytes * 1_000_000),
        receiving=receiving_limits(settings),
        known=KnownSecrets(known_secrets(settings.secrets, lookup=not_looked_up, addresses=settings.addresses)),
    )


PATIENCE = 0.2
"""Seconds to wait for the lock: a process that only checks for a daemon holds it for a moment."""


def daemon_lock(workspace: Workspace) -> AbstractContextManager[None]:
    """The lock of the vault's only daemon; entering raises `LockHeld` if there is a daemon already."""
    return process_lock(workspace.daemon_lock, workspace.vault.clock, PATIENCE, "this vault has a daemon already")


def is_watched(workspace: Workspace) -> bool:
    """True if a daemon runs on this vault."""
    return holder(workspace.daemon_lock) is not None


def load_daemon_state(workspace: Workspace) -> Mapping[str, object] | None:
    """The last state that the vault's daemon wrote; empty if it cannot be read, None if no daemon runs."""
    if not is_watched(workspace):
        return None
    try:
        state = parse_json(workspace.daemon_state.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


_Stamp = tuple[int, int] | None


def _named_files(settings: Settings) -> tuple[str, ...]:
    """The paths, folders and patterns in the setting."""
    return tuple(filter(None, map(str.strip, settings.attachments.mine.split(","))))


@dataclass(slots=True)
class OwnFiles:
    """Called, it gives the paths, folders and patterns of `attachments.mine` in one vault. They are read again once the
    settings have changed: a daemon lives longer than a setting. While they cannot be read, what was known holds."""

    root: Path
    _vault_id: str = field(default="", init=False)
    _files: tuple[Path, ...] = field(default=(), init=False)
    _known: tuple[str, ...] = field(default=(), init=False)
    _seen: tuple[_Stamp, ...] = field(default=(), init=False)

    def follow(self, vault_id: str, files: tuple[Path, ...], settings: Settings) -> None:
        """From now on the settings in these files hold, which are as they were just read."""
        self._vault_id, self._files, self._known = vault_id, files, _named_files(settings)
        self._seen = self._stamps()

    def __call__(self) -> tuple[str, ...]:
        seen = self._stamps()
        if seen != self._seen:
            try:
                self._known = _named_files(load_vault_settings(self.root, vault_id=self._vault_id).settings)
            except ConfigError:
                return self._known
            self._seen = seen
        return self._known

    def _stamps(self) -> tuple[_Stamp, ...]:
        return tuple(map(_stamp, self._files))


def _stamp(file: Path) -> _Stamp:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
