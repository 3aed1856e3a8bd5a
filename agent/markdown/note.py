"""A note as an immutable value: its bytes, its header and its text.

Parsing never fails: for a header that cannot be parsed, `problem` holds the error and the text stays readable. Every
change returns a new note and keeps all other bytes. `contents` parses the body; the vault reads and writes files.
"""

from collections.abc import Mapping
from dataclasses import field
from importlib import import_module
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Self

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown import frontmatter
from agent.markdown.values import Header, Value, is_list


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
        if data.startswith(frontmatter.UTF16):
            problem = BadNote("the note is UTF-16 text", hint="save it as UTF-8")
            wide = data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff"))
            return cls(data, problem=problem, body=data.decode("utf-32" if wide else "utf-16", "replace"))
        parts = frontmatter.split(data)
        body = parts.body.decode("utf-8", "replace")
        if not parts.opening:
            return cls(data, body=body)
        line = 3 + parts.header.count(b"\n")
        try:
            header = frontmatter.values(parts)
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
        if self.data.startswith(frontmatter.UTF16):
            return self.body
        return self.data.removeprefix(frontmatter.BOM).decode("utf-8", "replace")

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
        parts = frontmatter.split(self.data)
        try:
            parts.body.decode("utf-8")
            changed = body.encode("utf-8")
        except UnicodeError as error:
            raise BadNote("the text is not UTF-8", line=self.body_line, hint="save the note as UTF-8") from error
        ending = parts.newline.encode() if parts.opening and not parts.closing.endswith(b"\n") and changed else b""
        return type(self).parse(self.data[: len(self.data) - len(parts.body)] + ending + changed)
