"""The words by which the subject of a text is known."""

import re

_WORD = re.compile(r"[a-z0-9\u00c0-\u024f\u0370-\u04ff]{3,}")
_HAN = re.compile(r"[\u3400-\u9fff]{2,}")


def words_of(text: str) -> frozenset[str]:
    """The words of a text by which its subject is known: of three letters and more, in Chinese pairs of characters."""
    plain = text.casefold()
    pairs = (run[at : at + 2] for run in _HAN.findall(plain) for at in range(len(run) - 1))
    return frozenset((*_WORD.findall(plain), *pairs))
