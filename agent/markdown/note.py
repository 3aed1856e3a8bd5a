"""A note as an immutable value: its bytes, its header and its text.

Parsing never fails: for a header that cannot be parsed, `problem` holds the error and the text stays readable. Every
change returns a new note and keeps all other bytes. `contents` parses the body; the vault reads and writes files.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from importlib import import_module
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Self, cast

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown.yaml_write import MAX_BYTES, Header, Value, is_list, resolve

if TYPE_CHECKING:
    from agent.markdown.yaml_read import HeaderEntry


def _no_header() -> Header:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Note:
    """`data` is the file's bytes; `body` the text below the header, which begins on line `body_line` of the file.

    `problem` is the error of a header that cannot be parsed (`header` is then empty, and `body` the text below it).
    Lists in the header are tuples. Bytes that are not text are U+FFFD in `body` and unchanged in `data`.
    """

    data: bytes
    header: Header = field(default_factory=_no_header, compare=False, repr=False)
    problem: BadNote | None = field(default=None, compare=False)
    body: str = field(default="", compare=False, repr=False)
    body_line: int = field(default=1, compare=False)

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """The note with these bytes; never raises."""
        if data.startswith(UTF16):
            problem = BadNote("the note is UTF-16 text", hint="save it as UTF-8")
            wide = data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff"))
            return cls(data, problem=problem, body=data.decode("utf-32" if wide else "utf-16", "replace"))
        parts = split(data)
        body = parts.body.decode("utf-8", "replace")
        if not parts.opening:
            return cls(data, body=body)
        line = 3 + parts.header.count(b"\n")
        try:
            header = values(parts)
        except BadNote as problem:
            return cls(data, problem=problem, body=body, body_line=line)
        return cls(data, header=MappingProxyType(header), body=body, body_line=line)

    @classmethod
    def compose(cls, header: Header, body: str) -> Self:
        """A new note with these keys in this order. Raises BadNote for a header that cannot be written as YAML."""
        data: bytes = import_module("agent.markdown.new_note").compose(header, body)
        return cls.parse(data)

    @property
    def text(self) -> str:
        """The whole note as text, header included, without a byte order mark."""
        if self.data.startswith(UTF16):
            return self.body
        return self.data.removeprefix(BOM).decode("utf-8", "replace")

    @property
    def id(self) -> str | None:
        return self.string("id")

    @property
    def type(self) -> str | None:
        return self.string("type")

    @property
    def aliases(self) -> tuple[str, ...]:
        """The other names of the note, from `aliases` (or `alias`); a text is split at commas."""
        return self.strings("aliases") or self.strings("alias")

    def title(self, path: str | PurePosixPath) -> str:
        """The header's `title`, else the file name without its extension; `path` is relative to the vault."""
        return self.string("title") or PurePosixPath(path).stem

    def string(self, key: str) -> str | None:
        """The text under a key; None when it is absent, empty or not text."""
        value = self.header.get(key)
        return value if isinstance(value, str) and value else None

    def strings(self, key: str) -> tuple[str, ...]:
        """The texts under a key: the items of a list, or one text split at commas; numbers become text."""
        value = self.header.get(key)
        if isinstance(value, str):
            return tuple(part for raw in value.split(",") if (part := raw.strip()))
        if not is_list(value):
            return () if value is None or isinstance(value, Mapping) else (str(value),)
        return tuple(str(item) for item in value if item not in (None, "") and not isinstance(item, Mapping))

    def with_key(self, key: str, value: Value) -> Self:
        """The note with one key set; only that key's lines change. Raises BadNote when the header cannot be changed."""
        data: bytes = import_module("agent.markdown.header_edits").set_key(self.data, key, value)
        return type(self).parse(data)

    def without_key(self, key: str) -> Self:
        """The note without one key. Raises BadNote when the header cannot be changed."""
        data: bytes = import_module("agent.markdown.header_edits").remove_key(self.data, key)
        return type(self).parse(data)

    def with_body(self, body: str) -> Self:
        """The note with another body below the same header bytes, even when the header cannot be parsed.

        Raises BadNote when the current or the new body is not valid UTF-8.
        """
        parts = split(self.data)
        try:
            parts.body.decode("utf-8")
            changed = body.encode("utf-8")
        except UnicodeError as error:
            raise BadNote("the text is not UTF-8", line=self.body_line, hint="save the note as UTF-8") from error
        ending = parts.newline.encode() if parts.opening and not parts.closing.endswith(b"\n") and changed else b""
        return type(self).parse(self.data[: len(self.data) - len(parts.body)] + ending + changed)


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
