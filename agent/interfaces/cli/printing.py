"""The only module that prints: all text for standard output and standard error passes through it.

Text is escaped before printing (`agent.escape`), so text from a note, a model, a server or git cannot style, move or
hide anything on the screen; only the program styles, with `Styled`. The edges of its frames are reserved: on a terminal
no other text can draw them. Requested files go into a pipe as they are, but for their control
characters.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import field, replace
from errno import EIO
from io import TextIOBase
from typing import IO, TypeAlias
from unicodedata import category, east_asian_width

import click

from agent.config.masking import printable, printable_bytes
from agent.dataclass import dataclass
from agent.escape import Escaper, escape, escape_controls, escape_line
from agent.interfaces.cli.streams import leave_closed_terminal

_TOP, _SIDE, _FOOT = "┏ ", "┃ ", "┗ "
_EDGES = re.compile("[┏┃┗]")
_RESET = "\x1b\\\x1b]8;;\x1b\\\x0f\x1b(B\x1b[?47l\x1b[?7h\x1b[?25h\x1b[4l\x1b[0m"
"""Ends an unfinished sequence, a link, another alphabet, the second screen and insert mode, turns line wrapping and the
cursor on, and resets every style."""
_TAB = 4
_MARKS = frozenset(("Mn", "Me", "Cf"))
"""Categories of characters that stand on the sign before them."""
_NARROWEST = 20
"""The fewest columns in which words are still read beside something."""
_PAGES: ContextVar[tuple[IO[str], IO[str]] | None] = ContextVar("pages", default=None)
"""Standard output and standard error of a command that is answered by another process than its own."""


@dataclass(frozen=True, slots=True)
class Styled:
    """Text in a colour (as click names it), bold or dim; plain if the output is not a terminal, and with `NO_COLOR`."""

    text: str
    colour: str | None = None
    bold: bool = False
    dim: bool = False


Printed: TypeAlias = str | Sequence[str | Styled]


def print_on(out: IO[str], error: IO[str]) -> None:
    """Print what this context shows on these streams, instead of those of the process."""
    _PAGES.set((out, error))


def encoding() -> str:
    """The encoding of standard output."""
    return getattr(_stream(False), "encoding", None) or "ascii"


def is_terminal(*, error: bool = False) -> bool:
    """True if standard output, or standard error, is a terminal."""
    return _stream(error).isatty()


def show(text: Printed, *, end: str = "\n", error: bool = False) -> None:
    """Print text on standard output, or on standard error, and flush it."""
    stream = _stream(error)
    pieces = (text,) if isinstance(text, str) else text
    _put("".join(_drawn(piece, stream) for piece in pieces) + end, stream)


def show_screens(text: str) -> None:
    """Print a long text on the terminal screen by screen, by the person's pager."""
    click.echo_via_pager(_drawn(text, sys.stdout))


def show_file(data: bytes, *, raw: bool) -> bool:
    """Print a file's content on standard output: as text on a terminal, byte for byte into a pipe.

    Control characters in a pipe, which may end at a terminal, are escaped unless `raw`; returns true if there were any.
    """
    if sys.stdout.isatty():
        show(data.decode("utf-8", "backslashreplace").removeprefix("\ufeff"), end="")
        return False
    inert = data if raw else escape_controls(data)
    click.echo(printable_bytes(inert), nl=False)
    return inert != data


@dataclass(slots=True)
class EscapedStream:
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


class TerminalFile(TextIOBase):
    """Standard output as a file, for a library that draws on a terminal; the library gets escaped text only."""

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base class has a plain attribute
        return sys.stdout.encoding or "ascii"

    def write(self, text: str) -> int:
        _put(text, sys.stdout)
        return len(text)

    def flush(self) -> None:
        sys.stdout.flush()

    def isatty(self) -> bool:
        return sys.stdout.isatty()

    def fileno(self) -> int:
        return sys.stdout.fileno()


def close_output() -> None:
    """End standard output, so that whoever reads it from a pipe knows that all of it is there; what is printed
    afterwards goes nowhere. Standard error stays."""
    stream = _stream(error=False)
    stream.flush()
    if stream is sys.__stdout__:
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def can_draw() -> bool:
    """True if standard output is a terminal on which the cursor can be moved."""
    return _can_reset(sys.stdout)


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
    framed = "".join(f"{edge}{_drawn(row, stream)}\n" for edge, row in zip(painted, rows, strict=True))
    _put((_RESET if _can_reset(stream) else "") + framed, stream)


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


def mark_pastes(on: bool) -> None:
    """Have the terminal mark where a pasted block begins and ends, or stop that."""
    if can_draw():
        _put("\x1b[?2004h" if on else "\x1b[?2004l", sys.stdout)


def wrapped(line: str, width: int) -> list[str]:
    """The line as a terminal shows it, in rows of at most `width` columns; at least one row.

    A row ends after a space or beside a wide character, such as a Chinese one; a word is cut only if it is longer than
    a row. Nothing is left out but a space that follows a full row.
    """
    return list(_rows(one_line(line.expandtabs(_TAB)), max(width, 10)))


def columns(text: str) -> int:
    """The width of a text on a terminal: a Chinese character takes two columns."""
    return sum(map(_columns, text))


def padded(text: str, width: int) -> str:
    """The text with spaces up to a width in columns, for tables."""
    return text + " " * (width - columns(text))


def at_words(line: str, width: int) -> str:
    """The line with line ends between its words, so that a terminal of this width breaks no word."""
    rows, used = list[str](), width
    for word in line.split(" "):
        wide = columns(word)
        if rows and used + 1 + wide <= width:
            rows[-1] += f" {word}"
            used += 1 + wide
        else:
            rows.append(word)
            used = wide
    return "\n".join(rows)


def beside(label: str, words: str) -> list[str]:
    """The words after a label: on a terminal in rows below each other beside it, else in one row."""
    width = size()[0] - columns(label)
    if width < _NARROWEST or not is_terminal():
        return [label + words]
    first, *rest = (each.rstrip() for each in wrapped(words, width))
    return [label + first, *(" " * columns(label) + each for each in rest)]


def as_lines(lines: Iterable[str]) -> str:
    """The texts, each escaped to stay on one line: a line break in a note's name starts no new line."""
    return "\n".join(map(escape_line, lines))


def one_line(text: str) -> str:
    """The text as one line of a terminal: escaped, including characters that would draw our frames."""
    return _without_edges(escape_line(text))


def size(*, error: bool = False) -> tuple[int, int]:
    """The terminal's columns and rows; 80 and 24 if unknown."""
    stream = _stream(error)
    try:
        found = getattr(stream, "terminal_size", None) or os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        found = os.terminal_size((0, 0))
    if found.columns and found.lines:
        return found.columns, found.lines
    import shutil  # with three kinds of archives, which a terminal of a known size needs not

    return shutil.get_terminal_size()


def colour() -> bool | None:
    """False if `NO_COLOR` is set; None if it depends on the output being a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _stream(error: bool) -> IO[str]:
    pages = _PAGES.get()
    return pages[error] if pages else sys.stderr if error else sys.stdout


def _put(text: str, stream: IO[str]) -> None:
    try:
        click.echo(printable(text), file=stream, nl=False, color=True)
    except OSError as error:
        if error.errno != EIO or not leave_closed_terminal([stream.fileno()]):
            raise


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
    start = end = used = end_used = 0
    for at, char in enumerate(text):
        columns = _columns(char)
        is_joined = _is_joined(text, at)
        if at > start and not is_joined and (text[at - 1] == " " or _is_wide(char) or _is_wide(text[at - 1])):
            end, end_used = at, used  # a row may end here
        if used + columns > width and not is_joined:
            if char == " " or end <= start:
                end, end_used = at, used
            yield text[start:end]
            start, used = end, used - end_used
            if char == " ":
                start, columns = at + 1, 0
        used += columns
    yield text[start:]


def _is_joined(text: str, at: int) -> bool:
    """True for a mark, selector or joiner, and for what a joiner joins: cut off from the sign before it, it would be
    escaped, and longer."""
    return category(text[at]) in _MARKS or text[at - 1 : at] == "\u200d"


def _columns(char: str) -> int:
    """The most columns that a terminal gives to the character."""
    if category(char) in _MARKS:
        return 0
    return 2 if _is_wide(char) or east_asian_width(char) == "A" else 1


def _is_wide(char: str) -> bool:
    return not char.isascii() and east_asian_width(char) in "WF"
