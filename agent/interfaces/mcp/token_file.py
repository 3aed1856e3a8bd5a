"""The token that a program shows over HTTP, in a file that only its person can read; made at the first start."""

import secrets
from pathlib import Path

from agent.config.private import FILE, make_folder
from agent.errors import UserError
from agent.vault.durable import replace

NAME = "mcp-token"
_SHORTEST = 32


def token_of(folder: Path) -> tuple[str, Path]:
    """The token and its file in a private folder; raises `UserError` for a file that others could have changed."""
    make_folder(folder)
    path = folder / NAME
    try:
        found = path.stat()
        if found.st_mode & 0o077:
            raise UserError(
                "others on this machine can read the token in {path}",
                hint="delete the file; the next start makes a new one",
                path=path,
            )
        token = path.read_text("ascii").strip()
    except FileNotFoundError:
        token = ""
    except (OSError, UnicodeDecodeError) as error:
        raise UserError("the token in {path} cannot be read", hint="delete the file", path=path) from error
    if len(token) < _SHORTEST:
        token = secrets.token_urlsafe(_SHORTEST)
        replace(path, f"{token}\n")
        path.chmod(FILE)
    return token, path
