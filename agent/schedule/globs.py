"""Patterns of paths in a vault, such as `projects/**` or `*.md`; `matches` is the way in.

`*` and `?` stay in one folder, `**` stands for any number of them. A pattern without a slash is a name in any folder.
A folder's name stands for everything in it, a note's may leave out `.md`. Capitals count for nothing, and characters
are compared in their composed form, since systems spell a name differently.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

_WILD = frozenset("*?")


class _Compiled(Protocol):
    def fullmatch(self, text: str) -> object: ...


def matches(path: str, patterns: Iterable[str]) -> bool:
    """True if a path of the vault matches one of the patterns, or if there is no pattern."""
    plain = _folded(path)
    each = [_compiled(_folded(pattern)) for pattern in patterns]
    return not each or any(pattern.fullmatch(plain) is not None for pattern in each)


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


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
