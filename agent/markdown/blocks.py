"""The blocks of a note's body: each line's kind (text, heading, table, code, comment or formula).

A line scanner replaces a full Markdown parser: it must support Obsidian's comments, formulas and callouts, and parse a
note in a fraction of a millisecond. It follows CommonMark for fences and indented code, in lists and quotes too (the
tests compare it with markdown-it on real notes). `links`, `tags` and `tasks` parse the visible text; `passages` splits
it for search.
"""

import re
from bisect import bisect_right
from itertools import accumulate
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.markdown import inline

LineKind: TypeAlias = Literal["blank", "text", "heading", "table", "fence", "code", "comment", "math"]

_QUOTE = re.compile(r"(?:[ ]{0,3}>[ ]?)+")
_MARKER = re.compile(r"([-*+]|[0-9]{1,9}[.)])([ \t]+|$)")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]+|$)")
_PLAIN_STARTS = frozenset(" \t>-*+#`~|=:0123456789%$<")
_OPEN_KINDS: dict[str, LineKind] = {"%%": "comment", "<!--": "comment", "$$": "math"}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside of quotes and lists; `line` counts from 1 in the file."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Body:
    """A note's body by line. `lines` have no line ends; `first` is the file's line of `lines[0]`.

    `visible` is `text` with code, comments and formulas replaced by NULs, so offsets are the same in both.
    """

    text: str
    visible: str
    first: int
    lines: tuple[str, ...]
    kinds: tuple[LineKind, ...]
    headings: tuple[Heading, ...]
    starts: tuple[int, ...]

    def line_at(self, offset: int) -> int:
        """The file's line number of a character of `text`."""
        return self.first + bisect_right(self.starts, offset) - 1


@dataclass(frozen=True, slots=True)
class OpenBlocks:
    """What is open at the end of a text, so that a line below it would be a part of it.

    `fence`: the run that opened a fence outside of lists and quotes. `marks`: the opening marks of comments and
    formulas at the beginning of a line. `items`: the columns of the contents of open list items, the outermost first.
    `quotes`: the number of `>` of an open quote. `in_table`: the last line is a row of a table.
    """

    fence: str = ""
    marks: tuple[str, ...] = ()
    items: tuple[int, ...] = ()
    quotes: int = 0
    in_table: bool = False


def open_blocks(text: str) -> OpenBlocks:
    """The blocks that are open at the end of a text of whole lines."""
    lines = text.removesuffix("\n").split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    scanner = _Scanner(text, lines, starts, 1)
    for index, line in enumerate(lines):
        scanner.line(index, line)
    in_table = scanner.table_goes_on() and not scanner.items and not scanner.quotes
    scanner.flush(len(lines))
    fence = scanner.fence if not (scanner.fence_quotes or scanner.fence_indent) else ""
    marks = tuple(mark for mark in inline.CLOSERS if mark in scanner.unclosed)
    return OpenBlocks(fence, marks, tuple(scanner.items), scanner.quotes, in_table)


def parse_body(text: str, first: int = 1) -> Body:
    """The parsed body; `first` is the file's line number of its first line. Never fails; linear in the text length."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    scanner = _Scanner(text, lines, starts, first)
    for index, line in enumerate(lines):
        scanner.line(index, line)
    scanner.flush(len(lines))
    visible = inline.blank(text, scanner.spans) if scanner.spans else text
    clean = tuple(line.removesuffix("\r") for line in lines) if "\r" in text else tuple(lines)
    return Body(text, visible, first, clean, tuple(scanner.kinds), tuple(scanner.headings), tuple(starts[:-1]))


def columns(line: str) -> int:
    """The width of a line's indentation; a tab extends to the next multiple of four."""
    width = 0
    for char in line:
        if char == " ":
            width += 1
        elif char == "\t":
            width += 4 - width % 4
        else:
            break
    return width


class _Scanner:
    """One pass over the lines; its fields are the open blocks in CommonMark's sense."""

    def __init__(self, text: str, lines: list[str], starts: list[int], first: int) -> None:
        self.text, self.lines, self.starts, self.first = text, lines, starts, first
        self.marks = tuple(mark for mark in inline.MARKS if mark in text)
        self.kinds: list[LineKind] = []
        self.headings: list[Heading] = []
        self.spans: list[tuple[int, int]] = []
        self.fence = ""  # the opening run of an open fence
        self.fence_quotes = self.fence_indent = 0
        self.open = ""  # the opening mark of an open comment or formula
        self.unclosed: set[str] = set()  # the marks without a closing mark in the rest of the text
        self.paragraph = False  # True if the next line may continue the last line's paragraph
        self.run = -1  # the first line of the run of text not yet searched for hidden spans; -1: none
        self.quotes = 0
        self.items: list[int] = []  # the column where the content of each open list item begins

    def line(self, index: int, line: str) -> None:
        if self.fence and self.in_fence(index, line):
            return
        if self.open:
            self.in_open(index, line)
        elif not line or not line.strip():
            self.close(index, "blank")
        elif line[0] not in _PLAIN_STARTS and not self.table_goes_on():
            self.add_text(index, starts_anew=not self.paragraph)
        else:
            self.structured(index, line)

    def close(self, index: int, kind: LineKind) -> None:
        """Add a line that ends the paragraph above it."""
        self.flush(index)
        self.paragraph = False
        self.kinds.append(kind)

    def add_text(self, index: int, *, starts_anew: bool) -> None:
        if not self.paragraph:
            self.flush(index)
        if starts_anew:
            self.quotes, self.items = 0, []
        if self.run < 0:
            self.run = index
        self.paragraph = True
        self.kinds.append("text")

    def flush(self, index: int) -> None:
        """Find the hidden spans in the run of text that ends above line `index`."""
        if self.run < 0:
            return
        start, end = self.starts[self.run], min(self.starts[index] - 1, len(self.text))
        self.run = -1
        self.find_hidden(start, end)

    def find_hidden(self, start: int, end: int) -> None:
        run = self.text[start:end]
        for mark in self.marks:
            if mark in run:
                break
        else:
            return
        spans, mark = inline.hidden(run)
        while mark and not self.closes(mark, end):  # never closed: plain text, so no text is lost
            begin = spans.pop()[0]
            more, mark = inline.hidden(run, begin + len(mark))
            spans += more
        self.open = mark
        self.spans.extend((start + a, start + b) for a, b in spans)

    def closes(self, mark: str, position: int) -> bool:
        if mark not in self.unclosed and self.text.find(inline.CLOSERS[mark], position) < 0:
            self.unclosed.add(mark)
        return mark not in self.unclosed

    def in_open(self, index: int, line: str) -> None:
        """Add a line of an open comment or formula; close it at its closing mark."""
        self.kinds.append(_OPEN_KINDS[self.open])
        start = self.starts[index]
        closer = inline.CLOSERS[self.open]
        at = line.find(closer)
        if at < 0:
            self.spans.append((start, start + len(line)))
            return
        self.open = ""
        self.spans.append((start, start + at + len(closer)))
        self.find_hidden(start + at + len(closer), start + len(line))

    def in_fence(self, index: int, line: str) -> bool:
        """Add a line to the open fence, or close the fence; True if the line is part of it."""
        rest, quotes = _unquoted(line, self.fence_quotes)
        inside = columns(rest) >= self.fence_indent
        if quotes < self.fence_quotes or (rest.strip() and not inside):
            self.fence = ""
            return False
        self.kinds.append("fence")
        self.spans.append((self.starts[index], self.starts[index] + len(line)))
        closing = rest.strip()
        if len(closing) >= len(self.fence) and not closing.strip(self.fence[0]):
            self.fence = "" if columns(rest) - self.fence_indent < 4 else self.fence
        return True

    def structured(self, index: int, line: str) -> None:
        """Add a line that may open a quote, a list item, a fence, a heading, a table or indented code."""
        rest, quotes = _unquoted(line, -1)
        bare = rest.lstrip(" \t").rstrip()
        marker = None if _is_rule(bare) else _MARKER.match(bare)
        lazy = self.paragraph and not (marker or _begins_block(bare))
        if quotes > self.quotes or (quotes < self.quotes and not lazy):
            self.flush(index)
            self.quotes, self.items, self.paragraph = quotes, [], False
        if not bare:
            self.close(index, "text")  # an empty line of a quote
            return
        indent, rest = columns(rest), bare
        while self.items and indent < self.items[-1] and not lazy:
            self.items.pop()
            self.flush(index)
            self.paragraph = False  # an underline below an item is a rule
        base = self.items[-1] if self.items else 0
        if indent - base >= 4 and self.paragraph and not self.table_goes_on():
            self.add_text(index, starts_anew=False)
            return
        if indent - base >= 4 and not self.paragraph:
            self.close(index, "code")
            self.spans.append((self.starts[index], self.starts[index] + len(line)))
            return
        if marker and indent - base < 4:
            self.flush(index)
            self.paragraph = False
            rest = self.open_items(rest, indent)
        self.leaf(index, rest, nested=bool(self.items or quotes))

    def open_items(self, rest: str, indent: int) -> str:
        """Open the list items that begin on a line (`- 1. text` begins two); returns the rest of the line."""
        position = 0
        while found := _MARKER.match(rest, position):
            indent += len(found[1])
            before = indent % 4  # a tab extends to the next multiple of four, so only this much of the indent counts
            gap = columns(" " * before + found[2]) - before
            indent += gap if 1 <= gap <= 4 else 1
            self.items.append(indent)
            position = found.end()
            if gap > 4:
                break
        return rest[position:]

    def leaf(self, index: int, rest: str, *, nested: bool) -> None:
        fence = _FENCE.match(rest)
        if fence:
            self.close(index, "fence")
            self.fence = fence[1] or fence[2]
            self.fence_quotes, self.fence_indent = self.quotes, self.items[-1] if self.items else 0
            self.spans.append((self.starts[index], self.starts[index] + len(self.lines[index])))
        elif rest[:1] == "#" and (heading := _HEADING.match(rest)):
            self.close(index, "heading")
            self.run = index
            self.flush(index + 1)
            if not nested:
                self.headings.append(Heading(len(heading[1]), _heading_text(rest[heading.end() :]), self.first + index))
        elif self.run >= 0 and self.paragraph and not nested and set(rest) in ({"="}, {"-"}):
            self.setext(index, 1 if rest[0] == "=" else 2)
        elif self.begins_table(index, rest):
            self.kinds[-1] = "table"
            self.kinds.append("table")
        elif self.table_goes_on() and not _is_rule(rest):
            self.kinds.append("table")
        elif _is_rule(rest):
            self.close(index, "text")
        else:
            self.add_text(index, starts_anew=False)
            if rest.startswith(tuple(inline.CLOSERS)):
                self.flush(index + 1)  # the lines below may be part of an open comment or formula

    def setext(self, index: int, level: int) -> None:
        """Add an underlined heading: its text is the whole paragraph above."""
        begin = index
        while begin > 0 and self.kinds[begin - 1] == "text" and begin > self.run:
            begin -= 1
            self.kinds[begin] = "heading"
        text = " ".join(line.strip() for line in self.lines[begin:index])
        self.headings.append(Heading(level, text, self.first + begin))
        self.close(index, "heading")

    def begins_table(self, index: int, rest: str) -> bool:
        """True if this is the row of dashes below a table's head."""
        return (
            self.paragraph and "|" in rest and "-" in rest and not rest.strip("|-: \t") and "|" in self.lines[index - 1]
        )

    def table_goes_on(self) -> bool:
        return bool(self.paragraph and self.kinds and self.kinds[-1] == "table")


def _unquoted(line: str, most: int) -> tuple[str, int]:
    """A line without its `>` marks (at most `most` of them, when that is not negative), and their number."""
    found = _QUOTE.match(line) if most else None
    if found is None:
        return line, 0
    quotes = found[0].count(">")
    if 0 <= most < quotes:
        end = -1
        for _ in range(most):
            end = line.index(">", end + 1)
        return line[end + 1 :].removeprefix(" "), most
    return line[found.end() :], quotes


def _begins_block(rest: str) -> bool:
    """True if a line ends the paragraph above it, at any indentation."""
    return not rest or rest.startswith(("```", "~~~")) or _is_rule(rest) or bool(_HEADING.match(rest))


def _is_rule(rest: str) -> bool:
    """True if a line is a thematic break: three or more of `-`, `*` or `_` and nothing else."""
    return rest.startswith(("-", "*", "_")) and rest.count(rest[0]) >= 3 and not rest.strip(rest[0] + " \t")


def _heading_text(rest: str) -> str:
    """A heading's text without the closing run of `#`."""
    text = rest.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else text


_TICKS = re.compile(r"`+")


def format_fenced(text: str, language: str = "text") -> str:
    """The text in a code fence longer than any run of backticks in it."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
