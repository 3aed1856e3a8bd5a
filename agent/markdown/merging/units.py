"""The units of a body that are merged as wholes: a paragraph, a heading, a list item without the items below it, a row.

Code, quotes and callouts, comments and formulas are one unit each. The blank lines between two units belong to neither.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.markdown.blocks import LineKind, columns, parse_body

Kind: TypeAlias = Literal["paragraph", "heading", "item", "head", "row", "quote", "fence", "code", "other"]
PROSE = frozenset({"paragraph", "heading", "row"})
_ITEM = re.compile(r"([ \t]*)([-*+]|[0-9]{1,9}[.)])([ \t]+|$|(?=\n))(?:\[([^\n\r])\](?=[ \t\r\n]|$)[ \t]*)?")
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)$")
_LEVEL = re.compile(r"[ \t]{0,3}(#{1,6})(?:[ \t]|\r?$)")
_TIME = re.compile(r"[-*+>#|%\s\[\]xX\"*_`(]*(?:vault-agent: [a-z]+ \{\"at\": \")?"
                   r"((?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ])?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?![0-9])")  # fmt: skip
_OF_SPAN: dict[LineKind, Kind] = {"fence": "fence", "code": "code", "comment": "other", "math": "other"}
TEXT_RANK = 6


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit. `key` is its text without what may change beside it: the number of an item, the tick of a task.

    `rank`: a unit ends all units of a higher rank above it (headings 0 to 5, text 6, items from 7 on by indentation).
    `block` is its block id. `is_counted`: an item of a numbered list whose number follows the one above it.
    """

    kind: Kind
    lines: tuple[str, ...]
    key: str
    block: str = ""
    rank: int = TEXT_RANK
    is_counted: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def time(self) -> str:
        """The time that the unit begins with, as written but with two digits for the hour; empty for none."""
        found = _TIME.match(self.lines[0])
        if found is None:
            return ""
        return f"0{found[1]}" if found[1][1] == ":" else found[1]


@dataclass(frozen=True, slots=True)
class ListItem:
    """The parts of a list item: joined they are its text. `state` is the character in its box, None without one."""

    indent: str
    marker: str
    state: str | None
    text: str

    def join(self) -> str:
        box = "" if self.state is None else f"[{self.state}] "
        return f"{self.indent}{self.marker} {box}{self.text}"


@dataclass(frozen=True, slots=True)
class Blocks:
    """The units of a body and the blank lines around them: `gaps[n]` stands above unit n, the last below all."""

    units: tuple[Unit, ...]
    gaps: tuple[tuple[str, ...], ...]
    final: bool | None

    """`final`: the last line ends with a line feed; None for an empty body."""


def split_item(text: str) -> ListItem | None:
    """The parts of an item; None if the text is not one, or is spaced in another way than `join` does it."""
    found = _ITEM.match(text)
    if found is None:
        return None
    item = ListItem(found[1], found[2], found[4], text[found.end() :])
    return item if item.join() == text else None


def split_body(text: str) -> Blocks:
    """The units of a body; never fails, linear in its length."""
    if not text:
        return Blocks((), ((),), None)
    kinds = parse_body(text).kinds
    lines = text.split("\n")
    final = not lines[-1]
    if final:
        lines.pop()
    units: list[Unit] = []
    gaps: list[tuple[str, ...]] = []
    blank: list[str] = []
    numbers: dict[int, int] = {}
    at = 0
    while at < len(lines):
        if kinds[at] == "blank":
            blank.append(lines[at])
            at += 1
            continue
        kind, end = _extent(lines, kinds, at)
        gaps.append(tuple(blank))
        blank = []
        units.append(_unit(kind, tuple(lines[at:end]), numbers))
        at = end
    return Blocks(tuple(units), (*gaps, tuple(blank)), final)


def _extent(lines: list[str], kinds: Sequence[LineKind], at: int) -> tuple[Kind, int]:
    """The kind of the unit that begins on a line, and the line below it."""
    kind, line = kinds[at], lines[at]
    if kind in _OF_SPAN:
        return _OF_SPAN[kind], _while(lines, kinds, at + 1, lambda _, below: below == kind)
    if _is_quoted(line):
        return "quote", _while(lines, kinds, at + 1, lambda text, below: _is_quoted(text) or _continues(text, below))
    if kind == "heading":
        is_underlined = not _LEVEL.match(line)
        return "heading", _while(
            lines, kinds, at + 1, lambda text, below: is_underlined and below == "heading" and not _LEVEL.match(text)
        )
    if kind == "table":
        return ("row", at + 1) if at and kinds[at - 1] == "table" else ("head", min(at + 2, len(lines)))
    end = _while(lines, kinds, at + 1, _continues)
    end = _while(lines, kinds, end, lambda _, below: below in ("comment", "math"))
    return ("item" if _ITEM.match(line) and not _is_rule(line) else "paragraph"), end


def _while(lines: list[str], kinds: Sequence[LineKind], at: int, belongs: Callable[[str, LineKind], object]) -> int:
    """The first line from `at` on that does not belong."""
    while at < len(lines) and belongs(lines[at], kinds[at]):
        at += 1
    return at


def _is_quoted(line: str) -> bool:
    return line[:4].lstrip(" ").startswith(">")


def _continues(line: str, kind: LineKind) -> bool:
    return kind == "text" and not _ITEM.match(line) and not _is_quoted(line)


def _is_rule(line: str) -> bool:
    bare = line.strip(" \t\r")
    return bare[:1] in ("-", "*") and bare.count(bare[0]) >= 3 and not bare.strip(bare[0] + " \t")


def _unit(kind: Kind, lines: tuple[str, ...], numbers: dict[int, int]) -> Unit:
    text = lines[0] if len(lines) == 1 else "\n".join(lines)
    found = _BLOCK_ID.search(lines[-1][-120:]) if "^" in lines[-1] else None
    block = found[1] if found else ""
    if kind == "heading":
        level = _LEVEL.match(text)
        numbers.clear()
        return Unit(kind, lines, text, block, len(level[1]) - 1 if level else "=-".index(lines[-1].strip()[0]))
    if kind != "item":
        if kind != "code":
            numbers.clear()
        return Unit(kind, lines, text, block)
    marks = _ITEM.match(text)
    assert marks is not None
    width = columns(text)
    number = int(marks[2][:-1]) if marks[2][0] not in "-*+" else -1
    is_counted = number >= 0 and numbers.get(width, number - 1) == number - 1
    for deeper in [each for each in numbers if each > width]:
        del numbers[deeper]
    numbers[width] = number
    return Unit(kind, lines, f"- {text[marks.end() :]}", block, 7 + width, is_counted)
