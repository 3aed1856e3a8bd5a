"""Help on the screen in Chinese: lines are as wide as the terminal shows them, and break between characters.

click counts characters and breaks at spaces, so a Chinese paragraph would be one line of twice the width. Each wide
character gets a filler while click wraps, and is a word of its own together with the punctuation that belongs to it.
"""

import re
import textwrap
from typing import Any

import click
from click import _textwrap, formatting

from agent.interfaces.cli.language import said, spoken
from agent.interfaces.cli.printing import columns

_FILLER = "\ue000"
_OPENING, _CLOSING = "（《「『【“‘", "，。、；：！？）》」』】”’…"
_WORD = re.compile(
    rf"(?:[{_OPENING}]{_FILLER})*(?:[^{_FILLER}]{_FILLER}|(?:[^{_FILLER}](?!{_FILLER}))+)(?:[{_CLOSING}]{_FILLER})*"
)
_WRAP = formatting.wrap_text


class HelpFormatter(click.HelpFormatter):
    """click's, with headings that end in the language's colon."""

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':>{self.current_indent}}{said('{title}:', title=heading)}\n")


class _Wrapper(_textwrap.TextWrapper):
    """Breaks lines between wide characters, too."""

    def _split(self, text: str) -> list[str]:
        return [word for chunk in textwrap.TextWrapper._split(self, text) for word in _WORD.findall(chunk)]


def wrap_text(text: str, *args: Any, **options: Any) -> str:
    """click's `wrap_text` by columns; English is left to click."""
    if spoken() == "en":
        return _WRAP(text, *args, **options)
    filled = "".join(char + _FILLER if columns(char) == 2 else char for char in text)
    plain, _textwrap.TextWrapper = _textwrap.TextWrapper, _Wrapper  # type: ignore[misc]
    try:
        return _WRAP(filled, *args, **options).replace(_FILLER, "")
    finally:
        _textwrap.TextWrapper = plain  # type: ignore[misc]


def lay_out_help() -> None:
    """Let click write its help so."""
    formatting.wrap_text = wrap_text
    click.Context.formatter_class = HelpFormatter
