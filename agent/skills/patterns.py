"""Patterns that come from skills: RE2 only, compiled once, and none so large that matching it could be felt.

RE2 takes time in proportion to pattern and text, whatever they are; the limits here bound both. The only door to RE2.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

LONGEST = 1_000
"""Characters of one pattern."""
SIZE = 800
"""Instructions of one compiled pattern: on the longest text, the worst takes 8 ms."""
SIZE_TOGETHER = 1_500
"""Instructions of all patterns of a skill together."""
MOST = 50
"""Patterns of one skill."""
TEXT_BYTES = 2_000
"""So much of a task is looked at: what somebody wants stands at the beginning."""
_MEMORY = 1 << 20


class Compiled(Protocol):
    """What is used of a pattern of RE2, which says nothing of its types."""

    @property
    def programsize(self) -> int: ...

    def search(self, text: bytes) -> object | None: ...


class BadPattern(ValueError):
    """A pattern that cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that ignores case; `size` is what it costs."""

    text: str
    size: int = field(compare=False)
    compiled: Compiled = field(compare=False, repr=False)

    def is_in(self, text: bytes) -> bool:
        """Whether it matches somewhere in a text made by `searchable`."""
        return self.compiled.search(text) is not None


def compile_pattern(text: str) -> Pattern:
    """The pattern; raises `BadPattern`."""
    import re2  # type: ignore[import-untyped]

    if not text.strip():
        raise BadPattern("the pattern is empty")
    if len(text) > LONGEST:
        raise BadPattern(f"the pattern is longer than {LONGEST:,} characters")
    try:
        compiled: Compiled = re2.compile(unicodedata.normalize("NFC", text).encode(), _options())
    except re2.error as error:
        said = error.args[0] if error.args else ""
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise BadPattern(f"the pattern {_shown(text)} is not RE2: {reason}") from error
    except UnicodeEncodeError as error:
        raise BadPattern(f"the pattern {_shown(text)} holds half a character") from error
    if compiled.programsize > SIZE:
        raise BadPattern(f"the pattern {_shown(text)} is too large: use smaller repeats or several patterns")
    if compiled.search(b"") is not None:
        raise BadPattern(f"the pattern {_shown(text)} matches every text, even none")
    return Pattern(text, compiled.programsize, compiled)


def any_of(patterns: Sequence[Pattern]) -> Pattern | None:
    """One pattern that matches where any of these does; None where there are none, or where they are too large.

    Most skills have nothing to do with a task: one search says so, whatever number of patterns they have.
    """
    if len(patterns) < 2:
        return patterns[0] if patterns else None
    import re2

    text = "|".join(f"(?:{pattern.text})" for pattern in patterns)
    try:
        compiled: Compiled = re2.compile(unicodedata.normalize("NFC", text).encode(), _options())
    except re2.error:
        return None
    return Pattern(text, compiled.programsize, compiled)


def searchable(text: str) -> bytes:
    """The beginning of a text as patterns look at it."""
    start = unicodedata.normalize("NFC", text[:TEXT_BYTES]).encode("utf-8", "replace")
    return start[:TEXT_BYTES]


@cache
def _options() -> object:
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MEMORY
    return options


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 60 else text[:59] + "…")
