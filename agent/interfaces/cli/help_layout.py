"""Help on the screen in Chinese: lines are as wide as the terminal shows them, and break between characters.

click counts characters and breaks at spaces, so a Chinese paragraph would be one line of twice the width. Each wide
character gets a filler while click wraps, and is a word of its own together with the punctuation that belongs to it.
"""

import re
import textwrap
from collections.abc import Iterable
from typing import Any

import click
from click import _textwrap, formatting

from agent.interfaces.cli.language import said, spoken
from agent.interfaces.cli.printing import columns, size

_WIDEST, _NARROWEST = 80, 30
_FILLER = "\ue000"
_OPENING, _CLOSING = "（《「『【“‘", "，。、；：！？）》」』】”’…"
_WORD = re.compile(
    rf"(?:[{_OPENING}]{_FILLER})*(?:[^{_FILLER}]{_FILLER}|(?:[^{_FILLER}](?!{_FILLER}))+)(?:[{_CLOSING}]{_FILLER})*"
)
_NUMBERED = re.compile(r"^( *\d+ {2,})(.+)$", re.MULTILINE)
_WRAP = formatting.wrap_text


class HelpFormatter(click.HelpFormatter):
    """click's, with headings that end in the language's colon, and as narrow as the terminal: click's own is never
    narrower than 50 columns."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        room = min(size()[0], max_width or _WIDEST) - 2
        super().__init__(indent_increment, width or max(room, _NARROWEST))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl(rows, min(col_max, self.width * 2 // 5), col_spacing)

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':>{self.current_indent}}{said('{title}:', title=heading)}\n")


class _Wrapper(_textwrap.TextWrapper):
    """Breaks lines between wide characters, too."""

    def _split(self, text: str) -> list[str]:
        return [word for chunk in textwrap.TextWrapper._split(self, text) for word in _WORD.findall(chunk)]


def wrap_text(text: str, width: int = _WIDEST, initial_indent: str = "", *args: Any, **options: Any) -> str:
    """click's `wrap_text` by columns, also of the numbered lines that click leaves as they are."""
    if spoken() == "en":
        return _WRAP(_hung(text, width - len(initial_indent)), width, initial_indent, *args, **options)
    filled = "".join(char + _FILLER if columns(char) == 2 else char for char in text)
    plain, _textwrap.TextWrapper = _textwrap.TextWrapper, _Wrapper  # type: ignore[misc]
    try:
        hung = _hung(filled, width - len(initial_indent))
        return _WRAP(hung, width, initial_indent, *args, **options).replace(_FILLER, "")
    finally:
        _textwrap.TextWrapper = plain  # type: ignore[misc]


def _hung(text: str, width: int) -> str:
    """The text with each numbered line so wide at most, what follows of it below its words."""
    return _NUMBERED.sub(lambda line: _WRAP(line[2], width, line[1], " " * len(line[1])), text)


def lay_out_help() -> None:
    """Let click write its help so."""
    formatting.wrap_text = wrap_text
    click.Context.formatter_class = HelpFormatter
