"""One way of writing for patterns, keywords and tasks: Simplified for Traditional characters, ASCII for full-width
letters and digits, accents composed (Unicode's form NFC).

So 週記 in a task is found by a pattern that says 周记, and the other way round. Each character is replaced by one
character, so a pattern keeps its shape; words that differ between regions (網路, 网络) are left to the patterns.
"""

import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("simplified.txt")


def normalize(text: str) -> str:
    """The text in that way of writing; it has as many characters as the text's NFC form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_replacements())


@cache
def _replacements() -> Mapping[int, str]:
    """The replacement of each character that has one, read once (2 ms)."""
    rows = (row for row in _TABLE.read_text("utf-8").splitlines() if not row.startswith("#"))
    full_width = {chr(plain + 0xFEE0): chr(plain) for plain in range(ord("0"), ord("z") + 1) if chr(plain).isalnum()}
    return str.maketrans(full_width | {pair[0]: pair[1] for row in rows for pair in row.split()})
