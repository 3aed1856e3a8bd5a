"""One daemon per vault: the lock that it holds, and what it says of itself to those who ask."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager

from agent.vault.locks import holder, process_lock
from agent.workspace.workspace import App

PATIENCE = 0.2
"""Seconds: somebody who only asks whether there is a daemon holds the lock for a moment."""


def alone(app: App) -> AbstractContextManager[None]:
    """Be the vault's only daemon while it lasts; entering raises `LockHeld`."""
    return process_lock(app.daemon_lock, app.clock, PATIENCE, "this vault has a daemon already")


def is_watched(app: App) -> bool:
    """Whether a daemon is at work on this vault."""
    return holder(app.daemon_lock) is not None


def last_word(app: App) -> Mapping[str, object] | None:
    """What the vault's daemon last said of itself; None when none is at work."""
    if not is_watched(app):
        return None
    try:
        said = json.loads(app.daemon_state.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
