"""Marks (hashes) that identify text after it is copied, quoted, made part of a list, or broken into other lines.

A line is reduced to its letters and digits, without case: list marks, checkboxes, emphasis, spaces and punctuation make
no difference. A line too short to be distinctive is combined with the lines below it. A sentence has a mark of its own,
so that a paragraph is known when its lines are filled anew.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate, chain

from agent.channel_names import OF_PROGRAM, TWO_WAY

LEAST = 12
"""Bytes of letters and digits that make a line distinctive: three English words, or four Chinese characters."""
LEAST_OF_SENTENCE = 20
"""Bytes of letters and digits that make a sentence distinctive: it is looked for within lines, so that more is asked
than of a whole line."""
TOGETHER = 8
"""Maximum number of short lines that are combined."""
LONGEST_PARAGRAPH = 64
"""Lines that are read as one paragraph; the sentences of a longer one are looked for in pieces."""

HEADER_WORDS: Mapping[str, frozenset[str]] = {
    "type": frozenset(
        ("fact", "chat_turn", "auto_capture", "workflow_trace", "user_explicit", "auto_flush", "research", "reflection")
    ),
    "scope": frozenset(("user", "chat")),
    "channel": OF_PROGRAM | TWO_WAY,
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
_LOWER = bytes(range(256)).lower()
_NO_LETTERS = bytes(each for each in range(256) if not bytes([each]).isalnum())
_SENTENCE_END = re.compile(r"[.!?…]+[^\w\s]*(?=\s|$)|[。！？｡]+")


def normalized(line: str) -> str:
    """The letters and digits of a line, in lower case, without the marks of a list, a quotation or a heading."""
    if line.isascii():  # the same, several times as fast: a vault's whole history may be looked at
        rest = line if line[:1].isalpha() else _LIST.sub("", line)
        return rest.encode().translate(_LOWER, _NO_LETTERS).decode()
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


def sentence_marks(lines: Sequence[bytes]) -> list[tuple[int, ...]]:
    """The marks of the sentences of which each line has a part."""
    found: list[tuple[int, ...]] = [()] * len(lines)
    paragraph: list[int] = []
    for at, line in enumerate((*lines, b"")):
        if line.strip() and len(paragraph) < LONGEST_PARAGRAPH:
            paragraph.append(at)
            continue
        for first, last, mark in _sentences([lines[each] for each in paragraph]):
            for each in paragraph[first : last + 1]:
                found[each] = (*found[each], mark)
        paragraph = [at] if line.strip() else []
    return found


def _sentences(lines: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    """The sentences of a paragraph: the first and the last line that each has a part in, and its mark."""
    texts = [_without_marks(line) for line in lines]
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    whole, begin = " ".join(texts), 0
    for end in (*(found.end() for found in _SENTENCE_END.finditer(whole)), len(whole)):
        text = whole[begin:end].lstrip()
        first, last, begin = bisect_right(starts, end - len(text)) - 1, bisect_right(starts, end - 1) - 1, end
        if first == last and len(text) == len(texts[first]):
            continue  # a whole line, which has a mark
        mark = text_mark(normalized(text).encode("utf-8", "replace"), LEAST_OF_SENTENCE)
        if mark is not None:
            yield first, last, mark


def _without_marks(line: bytes) -> str:
    text = line.decode("utf-8", "replace").strip()
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return text if text[:1].isalpha() else _LIST.sub("", text)


def _is_own_line(line: bytes) -> bool:
    key, _, word = line.decode("utf-8", "replace").removesuffix("\r").partition(": ")
    return word in HEADER_WORDS.get(key, ())


def new_marks(after: bytes, before: Iterable[bytes]) -> list[int]:
    """The marks of the lines and sentences in `after` that are in none of the versions `before`, each once. A sentence
    with a line that was there is not new: it may be two, without an end between them."""
    versions, rows = tuple(before), after.split(b"\n")
    known = set(chain.from_iterable(all_marks(version) for version in versions))
    old = {row.strip() for version in versions for row in version.split(b"\n")} - {b""}
    sentences = sentence_marks(rows)
    known |= {mark for row, marks in zip(rows, sentences, strict=True) if row.strip() in old for mark in marks}
    found = chain((mark for mark in line_marks(rows) if mark is not None), chain.from_iterable(sentences))
    return [mark for mark in dict.fromkeys(found) if mark not in known]


def all_marks(data: bytes, lines: tuple[int, int] | None = None, *, separately: bool = False) -> list[int]:
    """The marks of these lines of a text (inclusive, from 1; None: all) and of the sentences that they are part of,
    each once; `alone`: short lines are not combined with lines below these."""
    rows = data.split(b"\n")
    first, last = lines or (1, len(rows))
    own = line_marks(rows[first - 1 : last]) if separately else line_marks(rows)[first - 1 : last]
    found = chain((mark for mark in own if mark is not None), *sentence_marks(rows)[first - 1 : last])
    return list(dict.fromkeys(found))


def name_mark(path: str) -> int | None:
    """The mark of a file's path; None if each of its names is an ordinary short name."""
    if all(_MERE_NAME.fullmatch(name) for name in path.split("/")):
        return None
    return line_marks([path.encode("utf-8", "replace")])[0]


def text_mark(text: bytes, least: int = LEAST) -> int | None:
    """The mark of a normalized text; None if it has fewer than `least` bytes."""
    if len(text) < least:
        return None
    return int.from_bytes(sha256(text).digest()[:8], "big", signed=True)
