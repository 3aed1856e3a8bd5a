"""Keywords of an entry: words under which a person might look for it, and which do not stand in it.

They are a model's words: they help search, and are never evidence or shown as what somebody said.
"""

import re
from collections.abc import Callable, Iterable

MOST = 6
"""The most keywords of an entry."""
LONGEST = 40
"""The most characters of a keyword: a longer one is a sentence."""
_PLAIN = re.compile(r"\w+(?:[ '’&.+/-]{1,2}\w+)*")
"""Words without markup: nothing that an editor would show as a link, a tag or HTML."""


def plain_keywords(found: Iterable[str], text: str, is_refused: Callable[[str], bool]) -> tuple[str, ...]:
    """The keywords that may stand in the header of an entry with this text; `is_refused` is asked for each, and for all
    together."""
    folded, plain = text.casefold(), dict[str, str]()
    for word in (" ".join(each.split()) for each in found):
        is_plain = len(word) <= LONGEST and _PLAIN.fullmatch(word) and not word.isdecimal()
        if is_plain and word.casefold() not in folded and not is_refused(word):
            plain.setdefault(word.casefold(), word)
    words = tuple(plain.values())[:MOST]
    return () if is_refused(" ".join(words)) else words
