"""Patterns of paths in a vault, such as `projects/**` or `*.md`; `matches` is the way in.

`*` and `?` stay in one folder, `**` stands for any number of them. A pattern without a slash is a name in any folder.
A folder's name stands for everything in it, a note's may leave out `.md`. Characters are compared in their composed
form, since systems spell a name differently.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Protocol

_WILD = frozenset("*?")


class _Compiled(Protocol):
    def fullmatch(self, text: str) -> object: ...


def matches(path: str, patterns: Iterable[str], *, ignore_case: bool = False) -> bool:
    """True if a path of the vault matches one of the patterns, or if there is no pattern."""
    plain = _composed(path, ignore_case)
    each = [_compiled(_composed(pattern, ignore_case)) for pattern in patterns]
    return not each or any(pattern.fullmatch(plain) is not None for pattern in each)


def ignores_case(file: Path) -> bool:
    """True if the file system finds this file, which exists, also by its name in capitals."""
    try:
        return file.with_name(file.name.upper()).samefile(file)
    except OSError:
        return False


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> _Compiled:
    """The pattern for RE2, which no pattern of a person can freeze."""
    import re2  # type: ignore[import-untyped]

    parts = [part for part in pattern.split("/") if part]
    if len(parts) == 1 and not pattern.endswith("/") and parts != ["**"]:
        parts.insert(0, "**")
    *folders, last = parts or ["**"]
    source = "".join("(?:.*/)?" if part == "**" else f"{_part(part)}/" for part in folders)
    if last == "**":
        source += ".*"
    elif pattern.endswith("/"):
        source += f"{_part(last)}/.*"
    else:
        source += _part(last) + ("" if _WILD & set(last) else r"(?:\.md|/.*)?")
    options = re2.Options()
    options.dot_nl, options.log_errors = True, False
    compiled: _Compiled = re2.compile(source, options)
    return compiled


def _part(part: str) -> str:
    import re2

    stars = {"*": "[^/]*", "?": "[^/]"}
    return "".join(stars.get(char) or re2.escape(char) for char in part.replace("**", "*"))


def _composed(text: str, ignore_case: bool) -> str:
    composed = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", composed.casefold()) if ignore_case else composed
