"""The daemon's Unix socket: where it is, and its name for the system's calls."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.workspace.daemon_socket import LONGEST_NAME, SOCKET_NAME
from agent.workspace.workspace import Workspace


def socket_path(workspace: Workspace) -> Path:
    """The socket of the vault's daemon, in the vault's private folder."""
    return workspace.vault.private_folder / SOCKET_NAME


@contextmanager
def bindable(path: Path) -> Iterator[str]:
    """The name of a socket for `bind` and `connect`: a long one goes through the descriptor of its folder, where the
    system shows those as files."""
    if len(os.fsencode(path)) < LONGEST_NAME:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
