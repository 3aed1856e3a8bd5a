"""Normalization of patterns, keywords and tasks: Simplified for Traditional characters, ASCII for full-width letters
and digits, composed accents (Unicode NFC).

So the pattern 周记 matches 週記 in a task, and the reverse. Each character is replaced by one character, so a pattern
keeps its structure; words that differ between regions (網路, 网络) are left to the patterns.
"""

import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("simplified.txt")


def normalize(text: str) -> str:
    """The normalized text; it has as many characters as the text's NFC form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_replacements())


@cache
def _replacements() -> Mapping[int, str]:
    """The replacements by character, read once (2 ms)."""
    rows = (row for row in _TABLE.read_text("utf-8").splitlines() if not row.startswith("#"))
    full_width = {chr(plain + 0xFEE0): chr(plain) for plain in range(ord("0"), ord("z") + 1) if chr(plain).isalnum()}
    return str.maketrans(full_width | {pair[0]: pair[1] for row in rows for pair in row.split()})
