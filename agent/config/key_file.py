"""Files that hold one key each, readable by their owner only, in the machine's folder of settings."""

import os
from pathlib import Path
from stat import S_ISREG

from agent.config.directories import VAULT_FILE
from agent.config.private import FILE, own_folder, replace
from agent.errors import ConfigError, MissingKey, os_reason

MOST_BYTES = 16 * 1024
"""The largest key file: a key is one line."""
_OTHERS = 0o077


def save_key(folder: Path, name: str, key: str) -> Path:
    """Write `key` into the file `name` in `folder` with mode 600, and return its path; raises `ConfigError`."""
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "a key is one word of letters, digits and signs; this is none. Nothing was changed"
            if key
            else "no key was given. Nothing was changed",
            hint="copy the key again, and repeat the command",
        )
    own_folder(folder)
    path = folder / name
    replace(path, f"{key}\n")
    path.chmod(FILE)
    return path


def load_key(path: Path) -> str:
    """The key in a file, empty if there is no file; raises `MissingKey` if others may read it, or it is in a vault."""
    path = path.expanduser()
    if not path.is_absolute():
        raise MissingKey(
            "file:{path} is no whole path", hint="name the file from the root: file:/home/you/keys/name", path=path
        )
    vault = next((folder for folder in path.resolve().parents if (folder / VAULT_FILE).is_file()), None)
    if vault is not None:
        raise MissingKey(
            "the key file {path} lies in the vault {vault}",
            hint="move it out: a vault is committed",
            path=path,
            vault=vault,
        )
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise MissingKey(
            "the key file {path} cannot be read: {reason}",
            hint="chmod 600 {path}, as its owner",
            path=path,
            reason=os_reason(error),
        ) from error
    try:
        found = os.fstat(descriptor)
        if not S_ISREG(found.st_mode):
            raise MissingKey("{path} is no file with a key", hint="name the file itself: file:PATH", path=path)
        if found.st_mode & _OTHERS:
            raise MissingKey("others on this machine may read the key file {path}", hint="chmod 600 {path}", path=path)
        return os.read(descriptor, MOST_BYTES).decode("utf-8", "replace").strip()
    finally:
        os.close(descriptor)
