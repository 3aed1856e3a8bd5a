"""Opens a vault for a command or the daemon."""

from importlib import import_module
from pathlib import Path

from agent.clock import Clock
from agent.vault.layout import FORGETTING
from agent.workspace.workspace import Workspace, load_workspace


def open_workspace(root: Path, *, clock: Clock | None = None) -> Workspace:
    """The workspace of the vault at `root`; first finishes a forgetting that a crash interrupted.

    Raises `NotAVault` or `ConfigError`.
    """
    workspace = load_workspace(root, clock=clock)
    if (workspace.vault.private_folder / FORGETTING).exists():
        purge = import_module("agent.memory.forgetting.purge")  # slow to load, and hardly ever needed
        purge.Forgetter(workspace.vault, workspace.settings.vault.language, workspace.cache).finish()
    return workspace
