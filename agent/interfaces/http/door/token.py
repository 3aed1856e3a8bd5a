"""The token of a vault's server, in a file that only its owner may read; made at the first start."""

import os
import secrets
from pathlib import Path

from agent.config.private import FILE, make_folder
from agent.workspace.workspace import Workspace

_BYTES = 32


def token_file(workspace: Workspace) -> Path:
    """The file with the token, in the vault's private folder."""
    return workspace.vault.private_folder / "http" / "token"


def load_token(workspace: Workspace) -> str:
    """The token; it is made if the file is missing, empty or was readable by others."""
    file = token_file(workspace)
    make_folder(file.parent)
    try:
        if not file.stat().st_mode & 0o077 and (token := file.read_text("ascii").strip()):
            return token
        file.unlink()
    except (FileNotFoundError, UnicodeDecodeError):
        file.unlink(missing_ok=True)
    token = secrets.token_urlsafe(_BYTES)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE)
    except FileExistsError:  # another process was quicker
        return load_token(workspace)
    with os.fdopen(descriptor, "w", encoding="ascii") as out:
        out.write(token)
    return token
