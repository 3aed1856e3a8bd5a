"""The text of a settings file, within limits, and a quick reader of the most common form: one `key: word` a line."""

import os
import re
from collections.abc import Mapping
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


_MOST_SECTIONS = 4
"""How deep sections are nested here; the program's own go three deep."""
_WORD = r'(?!null\b)[A-Za-z0-9](?:[A-Za-z0-9_./+,-]|:(?=[A-Za-z0-9_./+,-]))*|"[^"\\]*"'
_LINE = re.compile(rf"( *)(?:([a-z][a-z0-9_]*):(?: +({_WORD}))?(?: +|(?= *\Z)))?(?:#.*)?")


def parse_plain_settings(text: str) -> Mapping[str, tuple[str, int]] | None:
    """The text and the line, from 1, of each key, dotted; None for a file of any other form.

    They equal those of `file.parse_settings`.
    """
    found: dict[str, tuple[str, int]] = {}
    sections: set[str] = set()
    around = [(0, "")]
    """The columns of the keys of the sections around the line, and their names with a dot, outermost first."""
    begun = ""
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.fullmatch(line) if line.isprintable() else None  # else YAML may see the end of a line in it
        if match is None:
            return None
        indent, key, word = match.groups()
        if key is None:
            continue
        if begun:
            around.append((len(indent), begun))
        while len(around) > 1 and len(indent) < around[-1][0]:
            around.pop()
        column, section = around[-1]
        name = section + key
        is_nested = not begun or (section == begun and column > around[-2][0])
        if not is_nested or column != len(indent) or len(around) > _MOST_SECTIONS or name in found or name in sections:
            return None
        begun = "" if word else f"{name}."
        if word:
            found[name] = (word[1:-1] if word.startswith('"') else word, number)
        else:
            sections.add(name)
    return None if begun else found
