"""Converts a web page to text for a model: headings, lists, links, tables and code, close to Markdown.

lxml parses the page: fast and in linear time, while Python's own parser took minutes for a hostile page. Deeper nesting
than in any real page ends the conversion, because there lxml is not linear either. Invisible parts (scripts, hidden
elements) are left out; which of the rest is the page's own text is left to `page_parts`, its date to `page_date`.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from urllib.parse import urljoin

from agent.attachments.html.page_date import PageDates
from agent.attachments.html.page_parts import BLOCKS, MAIN, PageBlock, chosen_text, is_hidden_part, mark_of
from agent.dataclass import dataclass

DEEPEST = 500
"""The most open elements at once; browsers have a similar limit."""
LONGEST = 200_000
"""The most characters of text from a page: many times the amount shown to a model."""
_CHUNK = 1 << 14

_UNSEEN = frozenset(
    {"script", "style", "template", "svg", "math", "object", "iframe", "select", "button", "noscript"}
    | {"audio", "video", "canvas"}
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_BLANKS = re.compile(r"\s+")
_HIDDEN = re.compile(r"(?:display:none|visibility:hidden|font-size:0|opacity:0)(?![\d.])")
_CODE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:?)-?\s?([a-z+#]{1,12})(?=\s|;|$)")
_IN_CELL = "\x1f"
"""Stands for the end of a line inside a table's cell."""
_PARENTS = 3
"""The ancestors of a block by which the container of the text is found."""


@dataclass(frozen=True, slots=True)
class ReadablePage:
    """The text of a page, its title, and the day on which it says it was published (empty: it does not say)."""

    text: str
    title: str = ""
    date: str = ""


class _Enough(Exception):
    """The page is too deep or too long to continue."""


@dataclass(slots=True)
class _Reader:
    """The target of the parser's events; `blocks` grow during parsing."""

    base: str
    blocks: list[PageBlock] = field(default_factory=list)
    title: str = ""
    dates: PageDates = field(default_factory=PageDates)
    _line: list[str] = field(default_factory=list)
    _prefix: str = ""
    _open: list[str] = field(default_factory=list)
    _marks: list[tuple[int, int, str]] = field(default_factory=list)  # depth, number and mark of marked open elements
    _boxes: list[int] = field(default_factory=list)  # the numbers of the open elements that are blocks
    _main: int = 0
    _count: int = 0
    _unseen: int = 0
    _pre: int = 0
    _cells: int = 0
    _heads: int = 0  # the header cells of the row, -1 once the table has its line below the header
    _quotes: int = 0
    _lists: list[int] = field(default_factory=list)  # the next number of each open list, 0 for bullets
    _links: list[tuple[str, int]] = field(default_factory=list)
    _linked: int = 0
    _size: int = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._count += 1
        self._open.append(tag)
        if len(self._open) > DEEPEST:
            raise _Enough
        self.dates.see(tag, attributes)
        if self._unseen or tag in _UNSEEN or _is_hidden(attributes):
            self._unseen += 1
            return
        mark = "" if self._pre else mark_of(tag, attributes, is_inside=self._main > 0)
        if tag in BLOCKS or mark:
            self._break()
        if mark:
            self._marks.append((len(self._open), self._count, mark))
            self._main += mark == MAIN
        if tag in BLOCKS:
            self._boxes.append(self._count)
        if tag in _HEADINGS:
            self._flush(_HEADINGS[tag])
        elif (begin := _BEGIN.get(tag)) is not None:
            begin(self, attributes)

    def end(self, tag: str) -> None:
        depth = len(self._open)
        self._open.pop()
        if self._unseen:
            self._unseen -= 1
            return
        if (finish := _END.get(tag)) is not None:
            finish(self)
        is_marked = bool(self._marks) and self._marks[-1][0] == depth
        if tag in _HEADINGS:
            self._flush("")
        elif tag in BLOCKS or is_marked:
            self._break()
        if is_marked:
            self._main -= self._marks.pop()[2] == MAIN
        if tag in BLOCKS:
            self._boxes.pop()

    def data(self, text: str) -> None:
        if self._open and self._open[-1] == "title":
            self.title = (self.title + text)[:300]
        elif self._unseen:
            self.dates.hear(self._open[-1], text)
        elif "head" not in self._open[:3]:
            self._line.append(text if self._pre else _BLANKS.sub(" ", text))
            self._grow(len(text))

    def comment(self, text: str) -> None:
        """Skip a comment; called by the parser."""

    def close(self) -> None:
        """End the last line, at the end of the page or of the reading."""
        self._flush()

    def _break(self) -> None:
        """Begin or end a block; inside a table's cell this adds a blank and no line."""
        if self._cells:
            self._line.append(_IN_CELL)
        else:
            self._flush()

    def _flush(self, prefix: str | None = None) -> None:
        """End the line; the next one begins with `prefix` (None: the current prefix, if this line was empty)."""
        text = "".join(self._line).replace(_IN_CELL, " ")
        self._line.clear()
        self._links = [(href, 0) for href, _ in self._links]
        text = text.strip("\n") if self._pre else _tidy(text)
        if text.strip():
            quote = "> " * self._quotes
            whole = "\n".join(quote + line for line in (self._prefix + text).split("\n"))
            self.blocks.append(self._block(whole))
            self._grow(len(whole) - len(text) + 2)
            self._prefix = ""
        self._linked = 0
        if prefix is not None:
            self._prefix = prefix

    def _block(self, text: str) -> PageBlock:
        marks = tuple((number, mark) for _, number, mark in self._marks)
        parents = tuple(self._boxes[-_PARENTS:])
        return PageBlock(text, marks, parents, self._linked)

    def _grow(self, characters: int) -> None:
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
        self._linked += len(text)
        target = _absolute(self.base, href)
        if text and target and not self._pre:
            blank = " " if self._line[start][:1].isspace() else ""
            self._line[start:] = [f"{blank}[{text}]({target})"]
            self._linked += len(target) + 4
            self._grow(len(target) + 4)

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

    def _begin_pre(self, attributes: Mapping[str, str]) -> None:
        self._end_row()
        found = _CODE.search(attributes.get("class", "")[:200].lower())
        self._pre += 1
        self._line.append(f"```{found[1] if found else ''}\n")

    def _begin_code(self, attributes: Mapping[str, str]) -> None:
        if not self._pre:
            self._line.append("`")
        elif self._line and self._line[-1] == "```\n":  # a page often names the language on the inner element
            found = _CODE.search(attributes.get("class", "")[:200].lower())
            self._line[-1] = f"```{found[1] if found else ''}\n"

    def _end_pre(self) -> None:
        self._line.append("\n```")
        self._flush()
        self._pre = max(self._pre - 1, 0)

    def _begin_table(self, attributes: Mapping[str, str]) -> None:
        self._end_row()  # of a table that only lays out the page, around this one
        self._heads = 0

    def _begin_row(self, attributes: Mapping[str, str]) -> None:
        self._end_row()
        self._heads = min(self._heads, 0)

    def _end_row(self) -> None:
        """End a row. One of a single cell is no row of a table: its lines stand as they are."""
        cells, heads, self._cells = self._cells, self._heads, 0
        if cells == 1:
            lines = "".join(self._line).removeprefix("| ").split(_IN_CELL)
            self._line.clear()
            for each in lines:
                self._line.append(each)
                self._flush()
            return
        if cells:
            self._line.append("|")
        self._flush()
        if cells and heads == cells:
            self._line.append("| --- " * cells + "|")
            self._flush()
            self._heads = -1

    def _begin_cell(self, attributes: Mapping[str, str], *, head: bool = False) -> None:
        self._line.append("| ")
        self._cells += 1
        self._heads += head and self._heads >= 0
        self._grow(3)

    def _end_cell(self) -> None:
        self._line.append(" ")

    def _image(self, attributes: Mapping[str, str]) -> None:
        alternative = " ".join(attributes.get("alt", "").split())
        if alternative:
            self._line.append(f"[image: {alternative}]")


_BEGIN: dict[str, Callable[[_Reader, Mapping[str, str]], None]] = {
    "a": _Reader._begin_link,
    "br": lambda reader, _: reader._line.append("\n" if not reader._cells else _IN_CELL),
    "ul": lambda reader, _: reader._lists.append(0),
    "ol": lambda reader, _: reader._lists.append(1),
    "li": lambda reader, _: reader._begin_item(),
    "blockquote": lambda reader, _: reader._quote(1),
    "pre": _Reader._begin_pre,
    "code": _Reader._begin_code,
    "table": _Reader._begin_table,
    "tr": _Reader._begin_row,
    "td": _Reader._begin_cell,
    "th": lambda reader, attributes: reader._begin_cell(attributes, head=True),
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


def read_page(html: str, base: str, stopped: Callable[[], bool] = lambda: False) -> ReadablePage:
    """The page as text with its title and date, links made absolute with `base`; only the text so far once `stopped`
    returns True."""
    from lxml import etree

    reader = _Reader(base)
    parser = etree.HTMLParser(target=reader, recover=True)  # type: ignore[arg-type]  # the stubs require bytes
    try:
        # The parser stops at a NUL, and a page must not declare its encoding a second time.
        text = html.replace("\0", "\ufffd").replace(_IN_CELL, " ")
        for start in range(0, len(text), _CHUNK):
            if stopped():
                break
            parser.feed(text[start : start + _CHUNK])
        parser.close()
    except (_Enough, etree.XMLSyntaxError):
        with suppress(_Enough):
            reader.close()
    text, title = chosen_text(reader.blocks, " ".join(reader.title.split()))
    return ReadablePage(text, title, reader.dates.day(base, [each.text for each in reader.blocks]))


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line and line != "|")


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or bool(_HIDDEN.search("".join(attributes.get("style", "")[:500].lower().split())))
        or is_hidden_part(attributes)
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
