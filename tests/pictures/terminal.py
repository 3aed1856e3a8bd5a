"""A terminal as an SVG picture, from what the program has sent to it. It has a background of its own, so it can be read
on a light page and on a dark one."""

import shlex
from collections.abc import Iterable
from html import escape
from itertools import groupby

import pyte
from pyte.screens import Char

COLUMNS, _ROWS = 84, 200
_CELL, _LINE, _EDGE, _BAR = 8.0, 19, 16, 30
_PAPER, _INK = "#1f2430", "#d9dce3"
_COLOURS = {"cyan": "#7fd1e0", "green": "#a6d98a", "red": "#f28b82", "brown": "#f0c674", "blue": "#8fb8f0"}


class Recording:
    """Commands and what came of them, one below the other."""

    def __init__(self) -> None:
        self._page = pyte.Screen(COLUMNS, _ROWS)
        self._stream = pyte.ByteStream(self._page)

    def add(self, words: Iterable[str], sent: bytes) -> None:
        """Type a command at a prompt, and show what the program sent."""
        typed = " ".join(f'"{word}"' if shlex.quote(word) != word else word for word in words)
        start = b"" if self._page.cursor.y == 0 else b"\r\n"
        self._stream.feed(start + b"\x1b[32m$\x1b[0m \x1b[1mvault-agent " + typed.encode() + b"\x1b[0m\r\n" + sent)

    def picture(self) -> str:
        """The screen as an SVG document."""
        rows = [self._cells(row) for row in range(self._page.cursor.y)]
        width, height = COLUMNS * _CELL + 2 * _EDGE, len(rows) * _LINE + _BAR + 2 * _EDGE
        drawn = [_row(cells, _BAR + _EDGE + _LINE * number + 13) for number, cells in enumerate(rows)]
        dots = [f'<circle cx="{20 + 18 * n}" cy="16" r="5" fill="{fill}"/>' for n, fill in enumerate(_DOTS)]
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" '
            f'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="13">',
            f'<rect width="{width:g}" height="{height}" rx="8" fill="{_PAPER}" stroke="#59606f"/>',
            *dots, *filter(None, drawn), "</svg>", "",
        ])  # fmt: skip

    def _cells(self, row: int) -> list[Char]:
        line = self._page.buffer[row]
        return [line[column] for column in range(COLUMNS)]


_DOTS = ("#f28b82", "#f0c674", "#a6d98a")


def _row(cells: list[Char], baseline: int) -> str:
    """A row of cells: a piece of text for each change of style, each as wide as its cells."""
    drawn, column = list[str](), 0
    for (colour, bold), run in groupby(cells, key=lambda cell: (cell.fg, cell.bold)):
        text = "".join(cell.data for cell in run)
        if text.strip():
            weight = ' font-weight="bold"' if bold else ""
            drawn.append(
                f'<text x="{_EDGE + column * _CELL:g}" y="{baseline}" fill="{_COLOURS.get(colour, _INK)}"{weight} '
                f'textLength="{len(text.rstrip()) * _CELL:g}" xml:space="preserve">{escape(text.rstrip())}</text>'
            )
        column += len(text)
    return "".join(drawn)
