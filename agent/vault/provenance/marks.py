"""Marks (hashes) that identify lines of text after they are copied, quoted, or made part of a list.

A line is reduced to its letters and digits, without case: list marks, checkboxes, emphasis, spaces and punctuation make
no difference. A line too short to be distinctive is combined with the lines below it.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

LEAST = 12
"""Bytes of letters and digits that make a line distinctive: three English words, or four Chinese characters."""
TOGETHER = 8
"""Maximum number of short lines that are combined."""

HEADER_WORDS: Mapping[str, frozenset[str]] = {
    "type": frozenset(
        ("fact", "chat_turn", "auto_capture", "workflow_trace", "user_explicit", "auto_flush", "research", "reflection")
    ),
    "scope": frozenset(("user", "chat")),
    "channel": frozenset(("cli", "http", "mcp", "inbox", "job", "telegram", "lark", "ntfy")),
    "source": frozenset(
        ("conversation", "context_compact", "summary", "profile", "question", "reflection", "model", "inbox")
    ),
    "kind": frozenset(("self", "health", "person", "preference", "decision", "event", "workflow", "other")),
}
"""The lines that the program writes itself into the header of each memory, whoever said what it holds, such as
`source: conversation`: key and word. They are nobody's words, so one identifies no text. Only whole lines of these
words: another word after the same key is a text like any other."""

_LIST = re.compile(r"^(?:[\s>#*+-]|\[[ xX?!/-]\]|\d{1,9}[.)](?=\s))+")
_MERE_NAME = re.compile(r"[\w .()+-]{0,48}")
_OTHER = re.compile(r"[\W_]+")


def normalized(line: str) -> str:
    """The letters and digits of a line, in lower case, without the marks of a list, a quotation or a heading."""
    return _OTHER.sub("", _LIST.sub("", unicodedata.normalize("NFKC", line).casefold()))


def line_marks(lines: Sequence[bytes]) -> list[int | None]:
    """A signed 64-bit mark for each line; None for a line without text, for a short one at the very end, and for one of
    the program's own (`HEADER_WORDS`)."""
    texts = [normalized(line.decode("utf-8", "replace")).encode("utf-8", "replace") for line in lines]
    filled = [at for at, text in enumerate(texts) if text]
    marks: list[int | None] = [None] * len(texts)
    for number, at in enumerate(filled):
        if _is_own_line(lines[at]):
            continue
        text = texts[at]
        for other in filled[number + 1 : number + TOGETHER]:
            if len(text) >= LEAST:
                break
            text += texts[other]
        marks[at] = text_mark(text)
    return marks


def _is_own_line(line: bytes) -> bool:
    key, _, word = line.decode("utf-8", "replace").removesuffix("\r").partition(": ")
    return word in HEADER_WORDS.get(key, ())


def new_marks(after: bytes, before: Iterable[bytes]) -> list[int]:
    """The marks of the lines in `after` that are in none of the versions `before`, each once."""
    known = {mark for version in before for mark in line_marks(version.split(b"\n"))}
    found = line_marks(after.split(b"\n"))
    return [mark for mark in dict.fromkeys(found) if mark is not None and mark not in known]


def name_mark(path: str) -> int | None:
    """The mark of a file's path; None if each of its names is an ordinary short name."""
    if all(_MERE_NAME.fullmatch(name) for name in path.split("/")):
        return None
    return line_marks([path.encode("utf-8", "replace")])[0]


def text_mark(text: bytes) -> int | None:
    """The mark of a normalized text; None if it is too short."""
    if len(text) < LEAST:
        return None
    return int.from_bytes(sha256(text).digest()[:8], "big", signed=True)
