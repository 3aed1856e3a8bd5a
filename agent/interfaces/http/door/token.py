"""The token of a vault's server, in a file that only its owner may read; made at the first start."""

import secrets
from pathlib import Path

from agent.config.durable import process_lock
from agent.config.private import make_folder, replace
from agent.interfaces.http.door.browsers import Browsers
from agent.workspace.workspace import Workspace

_BYTES = 32
_PATIENCE = 5.0
"""Seconds to wait for another process that is making the token."""


def token_file(workspace: Workspace) -> Path:
    """The file with the token, in the vault's private folder."""
    return workspace.vault.private_folder / "http" / "token"


def browsers_of(workspace: Workspace) -> Browsers:
    """The browsers that are signed in to the vault's server."""
    return Browsers(token_file(workspace).parent, workspace.vault.clock)


def load_token(workspace: Workspace) -> str:
    """The token; a new one is made if the file is missing, damaged, or could be read by others."""
    file = token_file(workspace)
    if token := _read(file):
        return token
    make_folder(file.parent)
    lock = file.with_name("token.lock")
    with process_lock(lock, workspace.vault.clock, _PATIENCE, "another process is making the server's token"):
        token = _read(file)
        if not token:
            token = secrets.token_urlsafe(_BYTES)
            replace(file, token)
    return token


def _read(file: Path) -> str:
    """The token in the file, empty if there is none to be trusted."""
    try:
        return "" if file.stat().st_mode & 0o077 else file.read_text("ascii").strip()
    except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
        return ""
