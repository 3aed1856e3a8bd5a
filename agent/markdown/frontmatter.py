"""The position of a note's header, and its values.

A header is what Obsidian accepts: the first line (after a byte order mark) is `---`, and a later line is `---` or
`...`. The text below it may be in any encoding and is never decoded. `yaml_read` parses the YAML, `header_edits`
changes it; `note` holds the parsed note.
"""

import re
from importlib import import_module
from typing import TYPE_CHECKING, cast

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown.values import MAX_BYTES, Value, resolve

if TYPE_CHECKING:
    from agent.markdown.yaml_read import HeaderEntry

BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
_OPENING = re.compile(rb"---[ \t]*\r?\n")
_CLOSING = re.compile(rb"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_LONGEST = 4_096
_LETTER = r"[^\x00-*,:-@\[-^`{-\x7f]"
"""A letter or digit of ASCII, one of `_/.+-`, or any character that is not ASCII: a set that is quick to compile."""
_UNQUOTED = rf"(?![.+-]){_LETTER}(?:{_LETTER}|(?:[:, ]|, )(?={_LETTER}))*"
_QUOTED = r"\"([^\x00-\x1f\"\\\x7f]*)\""
_PAIR = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]{0,63}):"
    rf"(?: ({_UNQUOTED})\n"
    rf"| \[((?:(?![.+-]){_LETTER}+(?:, (?=[^\]])|(?=\])))*)\]\n"
    rf"| {_QUOTED}\n"
    rf"| \{{([a-z]+): {_QUOTED}\}}\n"
    rf"|\n((?:  - (?:{_UNQUOTED}|\"[^\x00-\x1f\"\\\x7f]*\")\n)+))"
)
_HAN = ("\u4e00", "\u9fff")
_HAN_MARKS = frozenset("、。《》「」！（），：；？“”…—")
"""With the characters from the first to the last of `_HAN`, those outside ASCII that surely mean nothing in YAML."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The bytes of a note in order; joined they are the note. Without a header, `opening` and `closing` are empty."""

    bom: bytes
    opening: bytes
    header: bytes
    closing: bytes
    body: bytes

    def join(self) -> bytes:
        return self.bom + self.opening + self.header + self.closing + self.body

    @property
    def newline(self) -> str:
        """The line ending of the header, else of the first line, else a line feed."""
        line = self.opening or self.body[: self.body.find(b"\n") + 1]
        return "\r\n" if line.endswith(b"\r\n") else "\n"


def split(data: bytes) -> Parts:
    """The parts of a note; never fails, linear in its size."""
    bom = BOM if data.startswith(BOM) else b""
    opening = _OPENING.match(data, len(bom))
    closing = _CLOSING.search(data, opening.end()) if opening else None
    if opening is None or closing is None:
        return Parts(bom, b"", b"", b"", data[len(bom) :])
    start = opening.end()
    return Parts(bom, opening[0], data[start : closing.start()], closing[0], data[closing.end() :])


def text_of(header: bytes) -> str:
    """The header's text. Raises BadNote when it is not UTF-8 or is longer than `MAX_BYTES`."""
    if len(header) > MAX_BYTES:
        raise BadNote(
            "the header is longer than {size} KB", line=2, hint="move the long part below it", size=MAX_BYTES // 1024
        )
    try:
        return header.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 2 + header.count(b"\n", 0, error.start)
        raise BadNote("the header is not UTF-8 text", line=line, hint="save the note as UTF-8") from error


def entries(parts: Parts) -> "tuple[HeaderEntry, ...]":
    """The header's keys with their positions. Raises BadNote as `yaml_read.parse_header` does."""
    if not parts.header:
        return ()
    module = import_module("agent.markdown.yaml_read")  # with the YAML library, which most notes' headers need not
    return cast("tuple[HeaderEntry, ...]", module.parse_header(text_of(parts.header)))


def values(parts: Parts) -> dict[str, Value]:
    """The header's values by key. Raises BadNote as `yaml_read.parse_header` does."""
    text = text_of(parts.header)
    found = parse_plain_header(text)
    return values_of(entries(parts)) if found is None else found


def values_of(found: "tuple[HeaderEntry, ...]") -> dict[str, Value]:
    """The values of a header's entries by key."""
    return {entry.key: entry.value for entry in found}


def parse_plain_header(text: str) -> dict[str, Value] | None:
    """The keys of a header of the most common form (one `key: words` a line, lists of words, a trigger such as
    `on: {cron: "0 9 * * *"}`), fast; None for any other.

    The values equal those of `yaml_read`, which parses all other headers and reports errors.
    """
    if len(text) > _LONGEST or not (text.isascii() or all(map(_is_plain, text))):
        return None
    found: dict[str, Value] = {}
    at = 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None or pair[1] in found:
            return None
        key, word, words, quoted, inner, inner_quoted, lines = pair.groups()
        if word is not None:
            found[key] = resolve(word)
        elif words is not None:
            found[key] = tuple(map(resolve, words.split(", "))) if words else ()
        elif quoted is not None:
            found[key] = quoted
        elif inner is not None:
            found[key] = {inner: inner_quoted}
        else:
            items = [line[4:] for line in lines.splitlines()]
            found[key] = tuple(item[1:-1] if item[0] == '"' else resolve(item) for item in items)
        at = pair.end()
    return found


def _is_plain(letter: str) -> bool:
    return letter.isascii() or _HAN[0] <= letter <= _HAN[1] or letter in _HAN_MARKS
