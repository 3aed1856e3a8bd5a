"""Converts a web page to text for a model: headings, lists, links, tables and code, close to Markdown.

lxml parses the page: fast and in linear time, while Python's own parser took minutes for a hostile page. Deeper nesting
than in any real page ends the conversion, because there lxml is not linear either. Invisible parts (scripts, hidden
elements) are left out; menus and footers too, if there is other text.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urljoin

DEEPEST = 500
"""The most open elements at once; browsers have a similar limit."""
LONGEST = 200_000
"""The most characters of text from a page: many times the amount shown to a model."""
_CHUNK = 1 << 14
_ENOUGH = 250
"""The least characters for which the part marked as main is used alone."""

_UNSEEN = frozenset(
    {"script", "style", "template", "svg", "math", "object", "iframe", "select", "button", "noscript"}
    | {"audio", "video", "canvas"}
)
_SIDES = frozenset(["nav", "footer", "aside", "header", "form", "menu", "dialog"])
_MAIN = frozenset(("main", "article"))
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "nav", "aside", "header", "footer", "ul", "ol", "dl"}
    | {"dt", "dd", "table", "tbody", "thead", "tfoot", "caption", "figure", "figcaption", "address"}
    | {"details", "summary", "fieldset", "form", "hr", "body", "center"}
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_BLANKS = re.compile(r"\s+")
_HIDDEN = re.compile(r"(?:display:none|visibility:hidden|font-size:0|opacity:0)(?![\d.])")


class _Enough(Exception):
    """The page is too deep or too long to continue."""


@dataclass(slots=True)
class _Block:
    text: str
    main: bool
    side: bool


@dataclass(slots=True)
class _Reader:
    """The target of the parser's events; `blocks` grow during parsing."""

    base: str
    blocks: list[_Block] = field(default_factory=list)
    title: str = ""
    _line: list[str] = field(default_factory=list)
    _prefix: str = ""
    _open: list[str] = field(default_factory=list)
    _unseen: int = 0
    _main: int = 0
    _side: int = 0
    _pre: int = 0
    _cells: int = 0
    _quotes: int = 0
    _lists: list[int] = field(default_factory=list)  # the next number of each open list, 0 for bullets
    _links: list[tuple[str, int]] = field(default_factory=list)
    _size: int = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._open.append(tag)
        if len(self._open) > DEEPEST:
            raise _Enough
        if self._unseen or tag in _UNSEEN or _is_hidden(attributes):
            self._unseen += 1
            return
        if tag in _BLOCKS or tag in _SIDES:
            self._break()
        self._main += tag in _MAIN
        self._side += tag in _SIDES
        if tag in _HEADINGS:
            self._flush(_HEADINGS[tag])
        elif (begin := _BEGIN.get(tag)) is not None:
            begin(self, attributes)

    def end(self, tag: str) -> None:
        self._open.pop()
        if self._unseen:
            self._unseen -= 1
            return
        if (finish := _END.get(tag)) is not None:
            finish(self)
        if tag in _HEADINGS:
            self._flush("")
        elif tag in _BLOCKS or tag in _SIDES:
            self._break()
        self._main -= tag in _MAIN
        self._side -= tag in _SIDES

    def data(self, text: str) -> None:
        if self._open and self._open[-1] == "title":
            self.title = (self.title + text)[:300]
        elif not self._unseen and "head" not in self._open[:3]:
            self._line.append(text if self._pre else _BLANKS.sub(" ", text))
            self._count(len(text))

    def comment(self, text: str) -> None:
        """Skip a comment; called by the parser."""

    def close(self) -> None:
        """End the last line, at the end of the page or of the reading."""
        self._flush()

    def _break(self) -> None:
        """Begin or end a block; inside a table's cell this adds a blank and no line."""
        if self._cells:
            self._line.append(" ")
        else:
            self._flush()

    def _flush(self, prefix: str | None = None) -> None:
        """End the line; the next one begins with `prefix` (None: the current prefix, if this line was empty)."""
        text = "".join(self._line)
        self._line.clear()
        self._links = [(href, 0) for href, _ in self._links]
        text = text.strip("\n") if self._pre else _tidy(text)
        if text.strip():
            quote = "> " * self._quotes
            whole = "\n".join(quote + line for line in (self._prefix + text).split("\n"))
            self.blocks.append(_Block(whole, self._main > 0, self._side > 0))
            self._count(len(whole) - len(text) + 2)
            self._prefix = ""
        if prefix is not None:
            self._prefix = prefix

    def _count(self, characters: int) -> None:
        self._size += characters
        if self._size > LONGEST:
            raise _Enough

    def _begin_link(self, attributes: Mapping[str, str]) -> None:
        self._links.append((attributes.get("href", ""), len(self._line)))

    def _end_link(self) -> None:
        if not self._links:
            return
        href, start = self._links.pop()
        text = _BLANKS.sub(" ", "".join(self._line[start:])).strip()
        target = _absolute(self.base, href)
        if text and target:
            blank = " " if self._line[start][:1].isspace() else ""
            self._line[start:] = [f"{blank}[{text}]({target})"]
            self._count(len(target) + 4)

    def _end_list(self) -> None:
        if self._lists:
            self._lists.pop()

    def _begin_item(self) -> None:
        number = self._lists[-1] if self._lists else 0
        if number:
            self._lists[-1] += 1
        indent = "  " * max(len(self._lists) - 1, 0)
        self._flush(f"{indent}{number}. " if number else f"{indent}- ")

    def _quote(self, by: int) -> None:
        self._flush()
        self._quotes = max(self._quotes + by, 0)

    def _begin_pre(self) -> None:
        self._flush()
        self._pre += 1
        self._line.append("```\n")

    def _end_pre(self) -> None:
        self._line.append("\n```")
        self._flush()
        self._pre = max(self._pre - 1, 0)

    def _end_row(self) -> None:
        self._cells = 0
        self._flush()

    def _begin_cell(self) -> None:
        self._line.append("| ")
        self._cells += 1
        self._count(3)

    def _end_cell(self) -> None:
        self._line.append(" ")

    def _image(self, attributes: Mapping[str, str]) -> None:
        alternative = " ".join(attributes.get("alt", "").split())
        if alternative:
            self._line.append(f"[image: {alternative}]")


_BEGIN: dict[str, Callable[[_Reader, Mapping[str, str]], None]] = {
    "a": _Reader._begin_link,
    "br": lambda reader, _: reader._line.append("\n" if not reader._cells else " "),
    "ul": lambda reader, _: reader._lists.append(0),
    "ol": lambda reader, _: reader._lists.append(1),
    "li": lambda reader, _: reader._begin_item(),
    "blockquote": lambda reader, _: reader._quote(1),
    "pre": lambda reader, _: reader._begin_pre(),
    "code": lambda reader, _: None if reader._pre else reader._line.append("`"),
    "tr": lambda reader, _: reader._end_row(),
    "td": lambda reader, _: reader._begin_cell(),
    "th": lambda reader, _: reader._begin_cell(),
    "img": _Reader._image,
}
_END: dict[str, Callable[[_Reader], None]] = {
    "a": _Reader._end_link,
    "ul": _Reader._end_list,
    "ol": _Reader._end_list,
    "li": lambda reader: reader._flush(""),
    "blockquote": lambda reader: reader._quote(-1),
    "pre": _Reader._end_pre,
    "code": lambda reader: None if reader._pre else reader._line.append("`"),
    "tr": _Reader._end_row,
    "td": _Reader._end_cell,
    "th": _Reader._end_cell,
    "table": _Reader._end_row,
}


def readable(html: str, base: str, stopped: Callable[[], bool] = lambda: False) -> str:
    """The page as text, links made absolute with `base`; only the text so far once `stopped` returns True."""
    from lxml import etree

    reader = _Reader(base)
    parser = etree.HTMLParser(target=reader, recover=True)  # type: ignore[arg-type]  # the stubs require bytes
    try:
        # The parser stops at a NUL, and a page must not declare its encoding a second time.
        text = html.replace("\0", "\ufffd")
        for start in range(0, len(text), _CHUNK):
            if stopped():
                break
            parser.feed(text[start : start + _CHUNK])
        parser.close()
    except (_Enough, etree.XMLSyntaxError):
        with suppress(_Enough):
            reader.close()
    return _chosen(reader)


def _chosen(reader: _Reader) -> str:
    """The main part if there is one, else all but menus and footers, else everything."""
    main = [block for block in reader.blocks if block.main and not block.side]
    body = [block for block in reader.blocks if not block.side]
    blocks = main if sum(len(block.text) for block in main) >= _ENOUGH else body or reader.blocks
    title = " ".join(reader.title.split())
    shown = [block.text for block in blocks]
    if title and not (shown and shown[0].startswith("# ") and shown[0][2:] in title):
        shown.insert(0, f"# {title}")
    return _joined(shown)


def _joined(blocks: list[str]) -> str:
    """The blocks with an empty line between them, except inside a list or a table."""
    text = ""
    before = ""
    for block in blocks:
        kind = _close(block)
        text += ("" if not text else "\n" if kind and kind == before else "\n\n") + block
        before = kind
    return text


def _close(block: str) -> str:
    if block.startswith("| "):
        return "row"
    return "item" if re.match(r" *(?:- |\d+\. )", block) else ""


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line and line != "|")


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or bool(_HIDDEN.search("".join(attributes.get("style", "")[:500].lower().split())))
    )


def _absolute(base: str, href: str) -> str:
    """The absolute address of a link; empty for one that is not a web page or has more than 1,000 characters."""
    href = "".join(href.split())
    if not href or href.startswith("#") or len(href) > 1000:
        return ""
    try:
        target = urljoin(base, href)
    except ValueError:
        return ""
    return target if target.startswith(("http://", "https://")) else ""
