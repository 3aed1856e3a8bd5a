"""The only module that prints: all text for standard output and standard error passes through it.

Text is escaped before printing (`agent.escape`), so text from a note, a model, a server or git cannot style, move or
hide anything on the screen; only the program styles, with `Styled`. The edges of its frames are reserved: on a terminal
no other text can draw them. Requested files go into a pipe byte for byte.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, TypeAlias
from unicodedata import east_asian_width

import click

from agent.config.masking import printable, printable_bytes
from agent.escape import Escaper, escape, escape_line

_TOP, _SIDE, _FOOT = "┏ ", "┃ ", "┗ "
_EDGES = re.compile("[┏┃┗]")
_RESET = "\x1b\\\x1b]8;;\x1b\\\x0f\x1b(B\x1b[?47l\x1b[?7h\x1b[?25h\x1b[4l\x1b[0m"
"""Ends an unfinished sequence, a link, another alphabet, the second screen and insert mode, turns line wrapping and the
cursor on, and resets every style."""
_TAB = 4


@dataclass(frozen=True, slots=True)
class Styled:
    """Text in a colour (as click names it), bold or dim; plain if the output is not a terminal, and with `NO_COLOR`."""

    text: str
    colour: str | None = None
    bold: bool = False
    dim: bool = False


Printed: TypeAlias = str | Sequence[str | Styled]


def show(text: Printed, *, end: str = "\n", error: bool = False) -> None:
    """Print text on standard output, or on standard error, and flush it."""
    stream = _stream(error)
    pieces = (text,) if isinstance(text, str) else text
    _put("".join(_drawn(piece, stream) for piece in pieces) + end, stream)


def show_file(data: bytes) -> None:
    """Print a file's content on standard output: byte for byte into a pipe, as text on a terminal."""
    if sys.stdout.isatty():
        show(data.decode("utf-8", "backslashreplace").removeprefix("\ufeff"), end="")
    else:
        click.echo(printable_bytes(data), nl=False)


@dataclass(slots=True)
class Stream:
    """Text for standard output that arrives in pieces, escaped correctly wherever it is split."""

    _escaper: Escaper = field(default_factory=Escaper)

    def show(self, piece: str) -> None:
        """Print the next piece."""
        _put(_reserved(self._escaper.feed(piece), sys.stdout), sys.stdout)

    def end(self) -> None:
        """Print the end of the text, which the escaper held back."""
        left = self._escaper.end()
        if left:
            _put(_reserved(left, sys.stdout), sys.stdout)


def show_framed(lines: Sequence[str | Styled], *, error: bool = False) -> None:
    """Print lines inside a frame, on a terminal whose state is reset before.

    A line that is too long for the terminal is wrapped inside the frame.
    """
    stream = _stream(error)
    width = size(error=error)[0] - len(_SIDE)
    styled = [Styled(line) if isinstance(line, str) else line for line in lines]
    styled = [replace(line, text=printable(line.text)) for line in styled]
    rows = [replace(line, text=row) for line in styled for row in wrapped(line.text, width)]
    edges = [_TOP, *(_SIDE for _ in rows[2:]), _FOOT][-len(rows) :]
    painted = (_paint(Styled(edge, colour="yellow"), edge, stream) for edge in edges)
    shown = "".join(f"{edge}{_drawn(row, stream)}\n" for edge, row in zip(painted, rows, strict=True))
    _put((_RESET if _can_reset(stream) else "") + shown, stream)


def patch_line(line: str) -> Styled:
    """A line of a patch in its colour: added, removed, a position, or the name of a file."""
    if line.startswith(("diff ", "+++ ", "--- ")):
        return Styled(line, bold=True)
    return Styled(line, colour={"+": "green", "-": "red", "@": "cyan"}.get(line[:1]))


def reset(*, error: bool = False) -> None:
    """Reset a terminal: styles, hidden text, another alphabet, the second screen."""
    stream = _stream(error)
    if _can_reset(stream):
        _put(_RESET, stream)


def wrapped(line: str, width: int) -> list[str]:
    """The line as a terminal shows it, cut into rows of at most `width` columns; at least one row."""
    return list(_rows(one_line(line.expandtabs(_TAB)), max(width, 10)))


def as_lines(lines: Iterable[str]) -> str:
    """The texts, each escaped to stay on one line: a line break in a note's name starts no new line."""
    return "\n".join(map(escape_line, lines))


def one_line(text: str) -> str:
    """The text as one line of a terminal: escaped, including characters that would draw our frames."""
    return _without_edges(escape_line(text))


def size(*, error: bool = False) -> tuple[int, int]:
    """The terminal's columns and rows; 80 and 24 if unknown."""
    try:
        found = os.get_terminal_size(_stream(error).fileno())
    except (OSError, ValueError):
        found = os.terminal_size((0, 0))
    return (found.columns, found.lines) if found.columns and found.lines else shutil.get_terminal_size()


def colour() -> bool | None:
    """False if `NO_COLOR` is set; None if it depends on the output being a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _stream(error: bool) -> IO[str]:
    return sys.stderr if error else sys.stdout


def _put(text: str, stream: IO[str]) -> None:
    click.echo(printable(text), file=stream, nl=False, color=True)


def _drawn(piece: str | Styled, stream: IO[str]) -> str:
    text = _reserved(escape(piece if isinstance(piece, str) else piece.text), stream)
    return text if isinstance(piece, str) else _paint(piece, text, stream)


def _paint(style: Styled, text: str, stream: IO[str]) -> str:
    unstyled = not (style.colour or style.bold or style.dim)
    if unstyled or not text or not stream.isatty() or colour() is False:
        return text
    return click.style(text, fg=style.colour, bold=style.bold or None, dim=style.dim or None)


def _reserved(text: str, stream: IO[str]) -> str:
    return _without_edges(text) if stream.isatty() else text


def _without_edges(text: str) -> str:
    """The text with the edges of our frames escaped as in JSON."""
    return _EDGES.sub(lambda edge: f"\\u{ord(edge[0]):04x}", text)


def _can_reset(stream: IO[str]) -> bool:
    return stream.isatty() and os.environ.get("TERM", "dumb") not in {"", "dumb"}


def _rows(text: str, width: int) -> Iterator[str]:
    start = used = 0
    for at, char in enumerate(text):
        columns = 1 if char.isascii() else 2 if east_asian_width(char) in "WFA" else 1
        if used + columns > width:
            yield text[start:at]
            start, used = at, 0
        used += columns
    yield text[start:]
