"""Loads the text of a settings file, within limits; `plain_file` and `file` read what it says."""

import os
from pathlib import Path
from stat import S_ISREG

from agent.errors import ConfigError, os_reason
from agent.texts import Sentence

MAX_BYTES = 16 * 1024
"""The maximum size of a settings file. The C loader's time grows with the square of the depth: a hostile file of 64 KB
takes 4 s, one of 16 KB a quarter of a second."""


def load_text(path: Path, *, follow: bool = True) -> str | None:
    """A settings file's text, None for no file; raises `ConfigError` if it is not a small UTF-8 text file.

    `follow=False` refuses a symbolic link, because a vault's file is untrusted.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = Sentence("it is a symbolic link") if not follow and path.is_symlink() else os_reason(error)
        hint = "change its permissions, or move it away"
        raise ConfigError("{path} cannot be read: {reason}", hint=hint, path=path, reason=reason) from error
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError("{path} is not a file", hint="move it away: the settings are a file of this name", path=path)
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ConfigError(
            "{path} is larger than {size} KB", hint="keep only its settings", path=path, size=MAX_BYTES // 1024
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError("{path}:{line}: not UTF-8 text", hint="save it as UTF-8", path=path, line=line) from error
