"""Opens a vault for a command or the daemon."""

from pathlib import Path

from agent.clock import Clock
from agent.vault.layout import FORGETTING
from agent.workspace.workspace import Workspace, load_workspace


def open_workspace(root: Path, *, clock: Clock | None = None) -> Workspace:
    """The workspace of the vault at `root`, once a forgetting that a crash has cut short is finished.

    Raises `NotAVault` or `ConfigError`.
    """
    workspace = load_workspace(root, clock=clock)
    if (workspace.vault.private_folder / FORGETTING).exists():
        from agent.memory.forgetting.purge import Forgetter  # slow to load, and hardly ever needed

        Forgetter(workspace.vault, workspace.settings.vault.language, workspace.cache).finish()
    return workspace
