"""Patterns of skills, compiled by RE2, with limits that keep every search short. The only module that imports RE2.

RE2 takes time proportional to the size of pattern and text; the limits here bound both.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Protocol

from agent.dataclass import dataclass
from agent.markdown.title import clipped

_TABLE = Path(__file__).with_name("simplified.txt")


def normalize(text: str) -> str:
    """The normalized text; it has as many characters as the text's NFC form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_replacements())


@cache
def _replacements() -> Mapping[int, str]:
    """The replacements by character, read once (2 ms)."""
    rows = (row for row in _TABLE.read_text("utf-8").splitlines() if not row.startswith("#"))
    full_width = {chr(plain + 0xFEE0): chr(plain) for plain in range(ord("0"), ord("z") + 1) if chr(plain).isalnum()}
    return str.maketrans(full_width | {pair[0]: pair[1] for row in rows for pair in row.split()})


LONGEST = 1_000
"""The most characters of one pattern."""
SIZE = 800
"""The most instructions of one compiled pattern: on the longest text, the worst takes 8 ms."""
SIZE_TOGETHER = 3_300
"""The most instructions of all patterns of a skill together: on the longest text, the worst take 40 ms."""
MOST = 50
"""The most patterns of one skill."""
TEXT_BYTES, LAST_BYTES = 1_000, 300
"""The most bytes searched of a task, and those of them from its end: a request is before or after pasted text."""
SIZE_OF_ALL = 200_000
"""The most instructions in one set of patterns: those of a hundred skills with as many patterns as the package's."""
_MEMORY, _MEMORY_OF_ALL = 1 << 20, 32 << 20


class Compiled(Protocol):
    """A compiled pattern of RE2, which has no types of its own."""

    @property
    def programsize(self) -> int: ...

    def search(self, text: bytes) -> object | None: ...


class BadPattern(ValueError):
    """A pattern that cannot be used; the message is the reason."""


@dataclass(frozen=True, slots=True)
class TaskPattern:
    """A case-insensitive pattern; `size` is the number of its RE2 instructions."""

    text: str
    size: int = field(compare=False)
    compiled: Compiled = field(compare=False, repr=False)

    def is_in(self, text: bytes) -> bool:
        """True if it matches anywhere in a text made by `searchable`."""
        return self.compiled.search(text) is not None


@dataclass(frozen=True, slots=True)
class Intent:
    """Patterns that match a skill together, in any order; usually a single one."""

    parts: tuple[TaskPattern, ...]
    texts: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", frozenset(part.text for part in self.parts))

    def __str__(self) -> str:
        return " & ".join(part.text for part in self.parts)

    def is_in(self, text: bytes) -> bool:
        """True if all of them match anywhere in a text made by `searchable`."""
        return all(part.is_in(text) for part in self.parts)


def compile_pattern(text: str) -> TaskPattern:
    """The pattern; raises `BadPattern`."""
    import re2  # type: ignore[import-untyped]

    if not text.strip():
        raise BadPattern("the pattern is empty")
    if len(text) > LONGEST:
        raise BadPattern(f"the pattern is longer than {LONGEST:,} characters")
    try:
        compiled: Compiled = re2.compile(_source(text), _options())
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadPattern(f"the pattern {_printable(text)} is not RE2: {reason}") from error
    except UnicodeEncodeError as error:
        raise BadPattern(f"the pattern {_printable(text)} holds half a character") from error
    if compiled.programsize > SIZE:
        raise BadPattern(f"the pattern {_printable(text)} is too large: use smaller repeats or several patterns")
    if compiled.search(b"") is not None:
        raise BadPattern(f"the pattern {_printable(text)} matches every text, even none")
    return TaskPattern(text, compiled.programsize, compiled)


class CompiledSet(Protocol):
    """A compiled set of patterns of RE2."""

    def Match(self, text: bytes) -> list[int] | None: ...


@dataclass(frozen=True, slots=True)
class Pass:
    """Patterns to be searched for in one pass over a text, in the time of a few single searches.

    `compiled` has the first `size` of them, and one more that matches every text: if the result lacks it, RE2 ran out
    of memory. Whatever has no answer from it is searched for one by one, with the same result.
    """

    patterns: tuple[TaskPattern, ...]
    compiled: CompiledSet | None
    size: int

    def hits(self, text: bytes) -> frozenset[str]:
        """The texts of the patterns that match anywhere in a text made by `searchable`."""
        found = self.compiled.Match(text) if self.compiled is not None else None
        if found is None or self.size not in found:
            return _hits(self.patterns, text)
        one = frozenset(self.patterns[number].text for number in found if number < self.size)
        return one | _hits(self.patterns[self.size :], text)


def pattern_hits(patterns: tuple[TaskPattern, ...], text: bytes) -> frozenset[str]:
    """The texts of the patterns that match anywhere in a text made by `searchable`."""
    return _one_pass(patterns).hits(text) if patterns and text else frozenset()


def forget_one_pass() -> None:
    """Forget the patterns that were compiled together. RE2 keeps what it has met in every text: 40 MB after a thousand
    tasks with the package's patterns, which take 11 ms to compile anew."""
    _one_pass.cache_clear()


@lru_cache(maxsize=2)
def _one_pass(patterns: tuple[TaskPattern, ...]) -> Pass:
    """All but the patterns beyond `SIZE_OF_ALL` compiled; none if RE2 runs out of memory."""
    import re2

    sizes = accumulate(pattern.size for pattern in patterns)
    size = sum(total <= SIZE_OF_ALL for total in sizes)
    made = re2.Set.SearchSet(_options(_MEMORY_OF_ALL))
    try:
        for pattern in patterns[:size]:
            made.Add(_source(pattern.text))
        made.Add(b"(?s).")
        made.Compile()
    except re2.error:
        return Pass(patterns, None, 0)
    return Pass(patterns, made, size)


def _hits(patterns: Iterable[TaskPattern], text: bytes) -> frozenset[str]:
    return frozenset(pattern.text for pattern in patterns if pattern.is_in(text))


def excerpt(text: str) -> str:
    """The beginning and the end of a text; all of it if it is short."""
    start = text[: TEXT_BYTES + 1].encode("utf-8", "replace")
    if len(start) <= TEXT_BYTES and len(text) <= TEXT_BYTES:
        return text
    end = text[-LAST_BYTES:].encode("utf-8", "replace")
    parts = (start[: TEXT_BYTES - LAST_BYTES - 1], end[-LAST_BYTES:])
    return "\n".join(part.decode("utf-8", "ignore") for part in parts)


def searchable(text: str) -> bytes:
    """The normalized excerpt of a text, as UTF-8, for the search with patterns."""
    return normalize(excerpt(text)).encode("utf-8", "replace")


def _source(pattern: str) -> bytes:
    return normalize(pattern).encode()


@cache
def _options(memory: int = _MEMORY) -> object:
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.never_capture = True
    options.max_mem = memory
    return options


def _printable(text: str) -> str:
    return ascii(clipped(text, 60))
