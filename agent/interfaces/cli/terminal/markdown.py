"""Markdown as rows for a terminal: wrapped at words, styled by us alone, with every character of the text kept.

The text is escaped before it is parsed and after it, since Markdown can spell any character (`&#27;`). Addresses of
links are written out and never made clickable, and HTML is shown as it stands.
"""

import re
from collections.abc import Iterable
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, ListItem, Markdown, MarkdownElement
from rich.segment import Segment
from rich.syntax import Syntax
from rich.theme import Theme

from agent.config.masking import printable
from agent.dataclass import dataclass
from agent.escape import escape
from agent.interfaces.cli.printing import one_line

Row = list[Segment]

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_BREAK = "\x1f"
"""A separator that is a space for wrapping and has no width: it allows a new row, and is removed from the rows."""
_IDEOGRAPH = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_WIDE = rf"{_IDEOGRAPH}\u3001-\u303f\uff01-\uff60"
_CLOSING = "、。，．！？：；）］｝》」』】〕’”…"
_OPENING = "（［｛《「『【〔‘“"
_BREAKS = re.compile(
    rf"(?<=[{_WIDE}])(?<![{_OPENING}])(?=[^\s{_CLOSING}])|(?<=[^\s{_OPENING}])(?=[{_IDEOGRAPH}{_OPENING}])"
)
"""Where Chinese and Japanese text may be broken: beside each ideograph, but no row begins with a closing mark or ends
with an opening one."""
THEME = Theme(
    {
        "markdown.code": "cyan",
        "markdown.block_quote": "dim",
        "markdown.hr": "dim",
        "markdown.item.bullet": "none",
        "markdown.item.number": "none",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
        **dict.fromkeys(("markdown.h1", "markdown.h2", "markdown.h3", "markdown.h4", "markdown.h5"), "bold"),
    }
)
"""Colours that can be read on a dark and on a light background."""
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])


@dataclass(slots=True)
class MarkdownBlocks:
    """Divides Markdown that arrives in pieces into blocks: a block is whole once later text cannot change its look.

    That is at an unindented line after a blank one, outside of a fence; so a list with blank lines is several blocks.
    """

    rest: str = ""
    """The text of the block that is not whole yet."""
    fence: str = ""
    """The characters that opened the code block at the end of `rest`; empty outside of one."""
    _line: int = 0
    _after_blank: bool = False

    def feed(self, piece: str) -> list[str]:
        """The blocks that are whole with this piece."""
        self.rest += piece
        done: list[str] = []
        while (end := self.rest.find("\n", self._line)) >= 0:
            line = self.rest[self._line : end]
            done += self._cut(line)
            self._scan(line)
            self._line += len(line) + 1
        return done + self._cut(self.rest[self._line :])

    def end(self) -> str:
        """The text that is left; the next piece begins a new text."""
        left = self.rest
        self.rest, self.fence, self._line, self._after_blank = "", "", 0, False
        return left

    def _cut(self, line: str) -> list[str]:
        """The text before this line, which is the current one, if the line begins a block."""
        if not self._after_blank or self.fence or not line[:1].strip() or not self._line:
            return []
        done, self.rest, self._line = self.rest[: self._line], self.rest[self._line :], 0
        return [done]

    def _scan(self, line: str) -> None:
        self._after_blank = not line.strip()
        found = _FENCE.match(line)
        if found and not self.fence:
            self.fence = found[1]
        elif self.fence and line.strip().startswith(self.fence) and not line.strip().strip(self.fence[0]):
            self.fence = ""


def markdown_rows(text: str, console: Console) -> list[Row]:
    """The text as rows that fit the console's width, without blank rows at both ends or two in a row."""
    rendered = console.render_lines(_Rendered(escape(printable(text))), console.options, pad=False)
    rows: list[Row] = []
    for row in map(_harmless, rendered):
        if row or (rows and rows[-1]):
            rows.append(row)
    return rows if not rows or rows[-1] else rows[:-1]


def _harmless(row: Iterable[Segment]) -> Row:
    """The row with every character harmless, without separators and without spaces at its end."""
    clean = [Segment(one_line(text.replace(_BREAK, "")), style) for text, style, control in row if not control]
    while clean and not clean[-1].text.rstrip():
        clean.pop()
    return [*clean[:-1], Segment(clean[-1].text.rstrip(), clean[-1].style)] if clean else []


class _PlainHeading(Heading):
    """A heading at the left, whatever its level."""

    LEVEL_ALIGN: ClassVar = {}


class _PlainCode(CodeBlock):
    """Code in the terminal's own colours, indented and without a background: it can be copied."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme="ansi_dark", word_wrap=True, padding=(0, 2))


class _DottedItem(ListItem):
    """An item of a list; its number, if it has one, ends with a dot."""

    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        width = len(str(last_number - 1)) + 3  # `last_number` is one more than the last
        rows = console.render_lines(self.elements, options.update(width=options.max_width - width), style=self.style)
        for index, row in enumerate(rows):
            yield Segment(f"{'' if index else f'{number}.'} ".rjust(width), console.get_style("markdown.item.number"))
            yield from row
            yield Segment.line()


class _Rendered(Markdown):
    """Rich's Markdown, with line ends kept as the text has them, and without links that a terminal makes active."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _PlainHeading,
        "fence": _PlainCode,
        "code_block": _PlainCode,
        "list_item_open": _DottedItem,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = [_prepared(token) for token in _PARSER.parse(text)]


def _prepared(token: Token) -> Token:
    """The token with line ends kept, pictures as their source, and wide text that may be broken."""
    match token.type:
        case "softbreak":
            token.type, token.tag = "hardbreak", "br"
        case "image":
            token.type, token.tag, token.content = "text", "", f"![{token.content}]({token.attrs.get('src', '')})"
            token.children = None
        case "text":
            token.content = _BREAKS.sub(_BREAK, token.content)
    if token.children:  # an address that stands for itself is written once
        token.children = [_prepared(child) for child in token.children if child.markup != "autolink"]
    return token
