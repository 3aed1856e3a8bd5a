"""One way of writing for what patterns and words look at: Traditional characters as Simplified ones, wide letters and
digits as plain ones, accents in one piece.

Whoever writes 週記 is understood by a pattern that says 周记, and the other way about. Characters stand for themselves,
one for one, so a pattern keeps its shape; words that differ between places (網路, 网络) are left to patterns. The only
door to OpenCC, which takes 30 ms to load: what GB 2312 can hold is Simplified already and asks nothing of it.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

SHARED = "乾吒夥後徵拚捱摺於榘菸薹袷醣麴麽"
"""Traditional characters that GB 2312 has, too."""
CANTONESE = "咗哋冇嘅啲嘢喺咁畀睇咩乜佢噉"
"""Characters of Cantonese that GB 2312 lacks, or has not all of, and that stay as they are."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_FIRST, _LAST = 0x3400, 0x9FFF
_TRADITIONAL = re.compile(f"[{SHARED}]")
_WIDE = {wide: wide - 0xFEE0 for first, last in ("０９", "ＡＺ", "ａｚ") for wide in range(ord(first), ord(last) + 1)}

_STAY = dict.fromkeys(map(ord, CANTONESE))


def folded(text: str) -> str:
    """The text in that way of writing; as many characters as it has in Unicode's form NFC."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFC", text).translate(_WIDE)
    return plain if _is_simplified("".join(_HAN.findall(plain))) else plain.translate(_simplified())


def _is_simplified(characters: str) -> bool:
    try:
        characters.translate(_STAY).encode("gb2312")
    except UnicodeEncodeError:
        return False
    return _TRADITIONAL.search(characters) is None


@cache
def _simplified() -> Mapping[int, str]:
    """For every Traditional character its Simplified one, made once (3 ms)."""
    import opencc

    every = [chr(number) for number in range(_FIRST, _LAST + 1)]
    simple = opencc.OpenCC("t2s").convert("\n".join(every)).split("\n")
    return {ord(one): other for one, other in zip(every, simple, strict=True) if one != other}
