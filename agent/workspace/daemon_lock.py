"""One daemon per vault: the lock that it holds, and what it says of itself to those who ask."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager

from agent.vault.locks import holder, process_lock
from agent.workspace.workspace import Workspace

PATIENCE = 0.2
"""Seconds: somebody who only asks whether there is a daemon holds the lock for a moment."""


def daemon_lock(workspace: Workspace) -> AbstractContextManager[None]:
    """Be the vault's only daemon while it lasts; entering raises `LockHeld`."""
    return process_lock(workspace.daemon_lock, workspace.clock, PATIENCE, "this vault has a daemon already")


def is_watched(workspace: Workspace) -> bool:
    """Whether a daemon is at work on this vault."""
    return holder(workspace.daemon_lock) is not None


def load_daemon_state(workspace: Workspace) -> Mapping[str, object] | None:
    """What the vault's daemon last said of itself; None when none is at work."""
    if not is_watched(workspace):
        return None
    try:
        said = json.loads(workspace.daemon_state.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
