"""The lock that allows one daemon per vault, and the state that the daemon writes."""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from agent.json_value import parse_json
from agent.vault.locks import holder, process_lock
from agent.workspace.workspace import Workspace

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
        said = parse_json(workspace.daemon_state.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
