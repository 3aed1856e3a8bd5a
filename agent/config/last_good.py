"""The settings of a vault, also where its file cannot be read any more: those that it had last hold until it is mended.

A file that arrived, or a slip of the hand in it, must not stop the commands that could mend it. What was last good is
kept in the repository's own folder, on this machine only; of the file, only the values of known settings are.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from agent.config.directories import VAULT_FILE
from agent.config.load import Loaded, load_settings
from agent.config.private import clear_way, replace
from agent.config.settings import Settings
from agent.errors import ConfigError
from agent.texts import Sentence

_KEPT = "vault-agent/settings.json"
_POINTER = "gitdir:"
_LONGEST = 4_096


def load_vault_settings(
    vault: Path | None = None, accept: Callable[[Settings], object] = lambda settings: None, *, vault_id: str = ""
) -> Loaded:
    """The settings for `vault` (its root), or without a vault; with a warning where its file is not followed, and with
    its id also those that this machine has for it.

    `accept` raises `ConfigError` for settings that cannot be used. Raises `ConfigError` for what is wrong on this
    machine, outside the vault.
    """
    try:
        loaded = load_settings(vault, vault_id=vault_id)
        accept(loaded.settings)
    except ConfigError as error:
        load_settings(None)
        if vault is None:
            raise
        return _without_the_file(vault, error, vault_id)
    if vault is not None:
        _keep(vault, loaded.traveling)
    return loaded


def _without_the_file(vault: Path, error: ConfigError, vault_id: str) -> Loaded:
    """The settings with those that the vault's file had last."""
    loaded = load_settings(vault, vault_id=vault_id, traveling=_kept(vault))
    warning = Sentence(
        "{file} cannot be followed, and what it said before holds: {problem} (mend it with an editor)",
        file=VAULT_FILE,
        problem=error,
    )
    return loaded.with_unfollowed(warning)


def _kept(vault: Path) -> Mapping[str, str | None]:
    """What the file said last; nothing if that is not known."""
    try:
        file = _file(vault)
        document = json.loads(file.read_text("utf-8")) if file is not None else {}
        return {str(key): None if text is None else str(text) for key, text in document.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _keep(vault: Path, values: Mapping[str, str | None]) -> None:
    """Remember what the file says; where that cannot be written, the next command tries again."""
    with suppress(OSError):
        file = _file(vault)
        if file is None or _kept(vault) == values:
            return
        file.parent.mkdir(exist_ok=True)
        clear_way(file)
        replace(file, json.dumps(dict(values)))


def _file(vault: Path) -> Path | None:
    """The file in the folder of the repository that has the vault; None without one."""
    for folder in (vault, *vault.parents):
        found = folder / ".git"
        if found.is_dir():
            return found / _KEPT
        if found.is_file():
            with found.open("rb") as file:
                words = file.read(_LONGEST).decode("utf-8", "surrogateescape").strip()
            target = folder / words.removeprefix(_POINTER).strip()
            return target / _KEPT if words.startswith(_POINTER) and target.is_dir() else None
    return None
