"""Whether two texts of the same words say another thing by their order: "Ann owes Ben" and "Ben owes Ann".

What is only told in another order says the same: a part that went elsewhere as a whole, the items of a list, "from
Oslo to Bergen" as "to Bergen from Oslo". Two that changed places while all between them stayed have changed roles.
Whether the words are the same is `likeness`'s to say.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

from agent.index.analysis import stem
from agent.index.words import STOP_WORDS

_LONGEST = 80
"""Tokens of a text whose order is looked at; who is who in a longer one is said more than once."""
_TOKEN = re.compile(r"[\u3400-\u9fff\u3040-\u30ff]|[^\W\u3400-\u9fff\u3040-\u30ff]+|[,;、，；]")
_SEPARATORS = frozenset({",", ";", "、", "，", "；", "and", "or", "&", "和", "与", "跟", "及", "或"})
_MARKERS = frozenset("在从到给把被由向往对")
"""Characters that say what part their neighbour plays, and so move with it."""
_SAME_PERSON = {"me": "i", "us": "we", "him": "he", "them": "they"}
_PERSONS = frozenset({"i", "we", "he", "she", "they", "you"})
_DETERMINERS = frozenset({"the", "a", "an", "my", "our", "your", "his", "her", "their", "its"})
_EQUALS = frozenset({"is", "are", "was", "were", "是"})


def is_exchanged(one: str, other: str) -> bool:
    """Whether words of one text have changed places in the other, and with them who does what to whom."""
    if one == other:
        return False
    before, after = _shared(_tokens(one), _tokens(other))
    if _is_retold(before, after):
        return False
    whole = len(before)
    before, after = _core(before, after)
    if len(before) < 3 or _is_retold(before, after):
        return False
    beside = _EQUALS if len(before) == whole else frozenset[str]()
    return _has_words_exchanged(before, after, beside) or _has_ends_exchanged(before, after, beside)


@lru_cache(maxsize=4_096)
def _tokens(text: str) -> tuple[str, ...]:
    """The words of a text in order, in one form each; characters where words are not parted by blanks."""
    found = _TOKEN.findall(text)[: _LONGEST + 1]
    return tuple(_form(token) for token in found)


def _form(token: str) -> str:
    token = _SAME_PERSON.get(token, token)
    return stem(token) if token.isascii() and token.isalpha() and token not in STOP_WORDS else token


def _shared(one: Sequence[str], other: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both without the tokens that only one of them has; empty where they are too long, or nothing is shared."""
    if max(len(one), len(other)) > _LONGEST:
        return [], []
    both = Counter(one) & Counter(other)
    return _only(one, both.copy()), _only(other, both)


def _only(tokens: Sequence[str], wanted: Counter[str]) -> list[str]:
    found: list[str] = []
    for token in tokens:
        if wanted[token] > 0:
            wanted[token] -= 1
            found.append(token)
    return found


def _core(one: list[str], other: list[str]) -> tuple[list[str], list[str]]:
    """Both without what they begin and end with in common."""
    start, end = 0, len(one)
    while start < end and one[start] == other[start]:
        start += 1
    while end > start and one[end - 1] == other[end - 1]:
        end -= 1
    return one[start:end], other[start:end]


def _is_retold(one: list[str], other: list[str]) -> bool:
    """Whether parts that stand side by side only come in another order."""
    if sorted(_parts(one)) == sorted(_parts(other)):
        return True
    bare, again = [[token for token in tokens if token not in _SEPARATORS] for tokens in (one, other)]
    return any(bare[at:] + bare[:at] == again for at in range(max(len(bare), 1)))


def _parts(tokens: list[str]) -> list[list[str]]:
    grouped = groupby(tokens, key=lambda token: token in _SEPARATORS)
    return [list(part) for is_separator, part in grouped if not is_separator]


def _has_words_exchanged(one: list[str], other: list[str], beside: frozenset[str]) -> bool:
    """Whether all that is in another place has meaning by itself, and more than `beside` has stayed in its place."""
    pairs = [*zip(one, other, strict=True)]
    if not all(_is_content(old) and _is_content(new) for old, new in pairs if old != new):
        return False
    return not {old for old, new in pairs if old == new} <= beside


def _has_ends_exchanged(one: list[str], other: list[str], beside: frozenset[str]) -> bool:
    """Whether the text is A, something, B here, and B, the same thing, A there; of any lengths. Something: more than
    `beside`."""
    size = len(one)
    for left in range(1, size - 1):
        if not _is_of_name(one[left - 1]):
            break
        if one[:left] != other[size - left :]:
            continue
        for right in range(1, size - left):
            if not _is_of_name(one[size - right]):
                break
            middle = one[left : size - right]
            if one[size - right :] == other[:right] and middle == other[right : size - left]:
                return not beside.issuperset(middle)
    return False


def _is_of_name(token: str) -> bool:
    return token in _DETERMINERS or _is_content(token)


def _is_content(token: str) -> bool:
    if token in _PERSONS:
        return True
    return token not in STOP_WORDS and token not in _SEPARATORS and token not in _MARKERS
